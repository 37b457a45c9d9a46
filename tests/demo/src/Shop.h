/* A shop app's causes of stalls, in Objective-C without an SDK: only names and lines matter. */
__attribute__((objc_root_class)) @interface Base
@end

@interface FeedStore : Base
- (int)loadItems;
- (int)parse:(const char *)json;
@end

@interface ImagePipeline : Base
- (int)decode:(int)count;
@end

@interface FeedViewController : Base
- (void)viewDidLoad;
- (void)reloadFeed;
- (void)layoutHeader;
@end

@interface CheckoutViewController : Base
- (void)payTapped;
- (void)waitForLock;
@end

extern volatile int sink;
int system_call(int what);
void tap(int what);
