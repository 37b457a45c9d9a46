#import "Shop.h"

volatile int sink;
FeedStore *store;
ImagePipeline *pipeline;
FeedViewController *feed;
CheckoutViewController *checkout;

__attribute__((noinline)) int system_call(int what)
{
    return sink + what;
}

int main(void)
{
    [feed viewDidLoad];
    [feed reloadFeed];
    [checkout payTapped];
    return sink;
}
