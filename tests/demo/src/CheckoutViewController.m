#import "Shop.h"

@implementation CheckoutViewController

- (void)payTapped
{
    [self waitForLock];
    sink++;
}

- (void)waitForLock
{
    sink += system_call(1); /* pthread_mutex_lock */
    sink++;
}

@end
