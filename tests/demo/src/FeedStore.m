#import "Shop.h"

@implementation FeedStore

static inline __attribute__((always_inline)) int step_rows(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += system_call(i); /* sqlite3_step */
    return sum;
}

- (int)loadItems
{
    int n = step_rows(40);
    sink += n;
    return n;
}

- (int)parse:(const char *)json
{
    int depth = 0;
    for (; *json; json++)
        depth += system_call(*json); /* JSONSerialization */
    sink += depth;
    return depth;
}

@end
