#import "Shop.h"

@implementation ImagePipeline

- (int)decode:(int)count
{
    int bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += system_call(i); /* CGImageSourceCreateImageAtIndex */
    sink += bytes;
    return bytes;
}

@end
