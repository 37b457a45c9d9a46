#import "Shop.h"

extern FeedStore *store;
extern ImagePipeline *pipeline;

@implementation FeedViewController

- (void)viewDidLoad
{
    sink += [store loadItems];
    [self layoutHeader];
    sink++;
}

- (void)reloadFeed
{
    sink += [store parse:"[]"];
    sink += [pipeline decode:8];
    sink++;
}

- (void)layoutHeader
{
    sink += system_call(3); /* -[UIView layoutIfNeeded] */
    sink++;
}

@end
