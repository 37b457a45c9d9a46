#include "server/analysis/category.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define LOOP "CoreFoundation __CFRunLoopRun\nUIKitCore UIApplicationMain\nShop!main\ndyld start\n"
#define PORT "libsystem_kernel.dylib mach_msg2_trap\nlibsystem_kernel.dylib mach_msg\n"

static const struct {
    const char *category;
    const char *stack;
} KINDS[] = {
    {"lock", "libsystem_kernel.dylib __psynch_mutexwait\nlibsystem_pthread.dylib "
             "_pthread_mutex_firstfit_lock_slow\nFoundation -[NSLock lock]\nShop!Feed.load()\n"},
    {"lock",
     "libsystem_kernel.dylib __ulock_wait\nlibdispatch.dylib _dlock_wait\nlibdispatch.dylib "
     "__DISPATCH_WAIT_FOR_QUEUE__\nlibdispatch.dylib _dispatch_sync_f_slow\nShop!f\n"},
    {"lock", "libsystem_platform.dylib _os_unfair_lock_lock_slow\nShop!f\n"},
    {"network_sync", "libsystem_kernel.dylib kevent\nlibsystem_info.dylib si_addrinfo\n"
                     "libsystem_info.dylib getaddrinfo\nShop!f\n"},
    {"network_sync", "libsystem_kernel.dylib __psynch_cvwait\nCFNetwork +[NSURLConnection "
                     "sendSynchronousRequest:returningResponse:error:]\nShop!f\n"},
    {"database", "libsystem_kernel.dylib pread\nlibsqlite3.dylib unixRead\nlibsqlite3.dylib "
                 "sqlite3_step\nShop!f\n"},
    {"database", "CoreData -[NSManagedObjectContext executeFetchRequest:error:]\nShop!f\n"},
    {"file_io", "libsystem_kernel.dylib open\nShop!f\n"},
    {"file_io", "CoreFoundation CFPreferencesSynchronize\nShop!f\n"},
    {"file_io", "Foundation -[NSFileManager contentsOfDirectoryAtPath:error:]\nShop!f\n"},
    {"parsing", "Foundation JSONDecoder.decode<A>(_:from:)\nShop!f\n"},
    {"parsing", "Foundation +[NSKeyedUnarchiver unarchiveObjectWithData:]\nShop!f\n"},
    {"image", "ImageIO IIOReadPlugin::callDecodeImage(int)\nCoreGraphics ripc_DrawImage\nShop!f\n"},
    {"layout", "CoreAutoLayout -[NSISEngine optimize]\nShop!f\n"},
    {"layout", "CoreText CTLineCreateWithAttributedString\nShop!f\n"},
    {"layout", "AttributeGraph AG::Graph::propagate_dirty(int)\nSwiftUI x\n" LOOP},
    {"render", PORT "QuartzCore CA::Render::Encoder::send_message(int)\nQuartzCore "
                    "CA::Transaction::commit()\n" LOOP},
    {"render", "CoreGraphics CGContextFillRect\nShop!f\n"},
    {"javascript", "JavaScriptCore JSC::Interpreter::execute(int)\nShop!f\n"},
    {"javascript", "hermes facebook::hermes::HermesRuntimeImpl::call(int)\nShop!f\n"},
    {"ipc", PORT "libxpc.dylib xpc_connection_send_message_with_reply_sync\nSecurity "
                 "SecItemCopyMatching\nShop!f\n"},
    {"ipc", PORT "CoreLocation +[CLLocationManager authorizationStatus]\nShop!f\n"},
    {"ipc", PORT "UIKitCore -[UIPasteboard string]\nShop!f\n"},
    {"allocation", "libsystem_malloc.dylib szone_malloc\nShop!f\n"},
    {"launch", "dyld dyld4::JustInTimeLoader::applyFixups\ndyld dyld4::prepare(int)\ndyld start\n"},
    {"launch", "libobjc.A.dylib call_load_methods\nShop!+[Feed load]\n"},
    {"cpu", "Shop!Feed.load()\n" LOOP},
    {"cpu", "libswiftCore.dylib swift_retain\nShop!Feed.load()\n" LOOP},
    {"cpu", "Lottie!Layer.draw()\nShop!Feed.load()\n" LOOP},
    {"unknown", "UIKitCore -[UIFoo bar]\nShop!Feed.load()\n" LOOP},
    {"idle", PORT "CoreFoundation __CFRunLoopServiceMachPort\n" LOOP},
    {"unknown", "-\n-\n"},
    {"unknown", "libsystem_kernel.dylib ?10\nUIKitCore ?20\n"},
};

/* As they come from the field. */
static const struct {
    const char *category;
    const char *stack;
} FIELD[] = {
    {"lock", "libsystem_kernel.dylib __ulock_wait\n"
             "libsystem_platform.dylib _os_unfair_lock_lock_slow\n"
             "libobjc.A.dylib objc_sync_enter\n"
             "Shop!-[Cache objectForKey:]\n"
             "Shop!-[FeedCell setModel:]\n"
             "UIKitCore -[UICollectionView "
             "_createPreparedCellForItemAtIndexPath:withLayoutAttributes:applyAttributes:isFocused:"
             "notify:]\n" LOOP},
    {"lock", "libsystem_kernel.dylib semaphore_wait_trap\n"
             "libdispatch.dylib _dispatch_sema4_wait\n"
             "libdispatch.dylib _dispatch_semaphore_wait_slow\n"
             "libswiftDispatch.dylib OS_dispatch_semaphore.wait(timeout:)\n"
             "Shop!Session.token()\n"
             "Shop!closure #1 in Feed.reload()\n" LOOP},
    {"lock", "libsystem_kernel.dylib __ulock_wait\n"
             "libdispatch.dylib _dlock_wait\n"
             "libdispatch.dylib _dispatch_thread_event_wait_slow\n"
             "libdispatch.dylib __DISPATCH_WAIT_FOR_QUEUE__\n"
             "libdispatch.dylib _dispatch_sync_f_slow\n"
             "libswiftDispatch.dylib OS_dispatch_queue.sync<A>(execute:)\n"
             "Shop!Store.value.getter\n"
             "SwiftUI ViewBodyAccessor.updateBody(of:changed:)\n" LOOP},
    {"lock", "libsystem_kernel.dylib __psynch_cvwait\n"
             "libsystem_pthread.dylib _pthread_cond_wait\n"
             "Foundation -[NSCondition wait]\n"
             "Foundation -[NSOperation waitUntilFinished]\n"
             "Shop!Sync.run()\n" LOOP},
    {"lock", "libsystem_kernel.dylib __psynch_rw_rdlock\n"
             "libsystem_pthread.dylib _pthread_rwlock_lock_slow\n"
             "Shop!RWLock.read<A>(_:)\n"
             "Shop!Settings.flag(_:)\n" LOOP},
    {"lock", "libsystem_kernel.dylib __ulock_wait\n"
             "libsystem_platform.dylib _os_unfair_recursive_lock_lock_with_options\n"
             "CoreFoundation CFRunLoopAddSource\n"
             "Shop!Timer.start()\n" LOOP},
    {"lock", "libsystem_kernel.dylib __ulock_wait\n"
             "libdispatch.dylib _dispatch_once_wait\n"
             "libswiftCore.dylib swift_once\n"
             "Shop!Feed.shared.unsafeMutableAddressor\n"
             "Shop!Feed.load()\n" LOOP},
    {"lock", "libsystem_kernel.dylib __semwait_signal\n"
             "libsystem_c.dylib nanosleep\n"
             "libsystem_c.dylib usleep\n"
             "Shop!Retry.wait()\n" LOOP},
    {"network_sync", "libsystem_kernel.dylib kevent\n"
                     "libsystem_info.dylib mdns_addrinfo\n"
                     "libsystem_info.dylib search_addrinfo\n"
                     "libsystem_info.dylib si_addrinfo\n"
                     "libsystem_info.dylib getaddrinfo\n"
                     "Shop!Host.resolve(_:)\n" LOOP},
    {"network_sync", "libsystem_kernel.dylib mach_msg2_trap\n"
                     "libsystem_kernel.dylib mach_msg\n"
                     "SystemConfiguration __SCNetworkReachabilityGetFlags\n"
                     "SystemConfiguration SCNetworkReachabilityGetFlags\n"
                     "Shop!-[Reachability currentReachabilityStatus]\n"
                     "Shop!-[Api start]\n" LOOP},
    {"network_sync",
     "libsystem_kernel.dylib semaphore_wait_trap\n"
     "libdispatch.dylib _dispatch_sema4_wait\n"
     "libdispatch.dylib _dispatch_semaphore_wait_slow\n"
     "CFNetwork CFURLConnectionSendSynchronousRequest\n"
     "CFNetwork +[NSURLConnection sendSynchronousRequest:returningResponse:error:]\n"
     "Shop!-[Api login]\n" LOOP},
    {"network_sync", "libsystem_kernel.dylib __psynch_cvwait\n"
                     "libsystem_pthread.dylib _pthread_cond_wait\n"
                     "Foundation +[NSData(NSData) dataWithContentsOfURL:options:error:]\n"
                     "Shop!-[Avatar load]\n" LOOP},
    {"network_sync", "libsystem_kernel.dylib connect\n"
                     "Shop!Socket.open(host:port:)\n"
                     "Shop!Chat.start()\n" LOOP},
    {"network_sync", "libsystem_kernel.dylib mach_msg2_trap\n"
                     "libsystem_kernel.dylib mach_msg\n"
                     "CoreTelephony -[CTTelephonyNetworkInfo serviceSubscriberCellularProviders]\n"
                     "Shop!Device.carrier.getter\n" LOOP},
    {"database", "libsystem_kernel.dylib pread\n"
                 "libsqlite3.dylib unixRead\n"
                 "libsqlite3.dylib readDbPage\n"
                 "libsqlite3.dylib sqlite3VdbeExec\n"
                 "libsqlite3.dylib sqlite3_step\n"
                 "GRDB Statement.step(_:)\n"
                 "Shop!Orders.all()\n" LOOP},
    {"lock", "libsystem_kernel.dylib __psynch_mutexwait\n"
             "libsystem_pthread.dylib _pthread_mutex_firstfit_lock_slow\n"
             "libsqlite3.dylib pthreadMutexEnter\n"
             "libsqlite3.dylib sqlite3_step\n"
             "CoreData -[NSSQLiteConnection execute]\n"
             "CoreData -[NSManagedObjectContext executeFetchRequest:error:]\n"
             "Shop!Store.fetch()\n" LOOP},
    {"database", "CoreData -[NSManagedObjectContext(_NSInternalNotificationHandling) "
                 "_processChangedStoreConfigurationNotification:]\n"
                 "CoreData -[NSManagedObjectContext save:]\n"
                 "Shop!closure #1 in Store.save()\n" LOOP},
    {"database", "SwiftData ModelContext.fetch<A>(_:)\n"
                 "Shop!Feed.items.getter\n"
                 "SwiftUI ViewBodyAccessor.updateBody(of:changed:)\n" LOOP},
    {"database", "libsystem_kernel.dylib fcntl\n"
                 "libsqlite3.dylib unixLock\n"
                 "libsqlite3.dylib sqlite3PagerSharedLock\n"
                 "libsqlite3.dylib sqlite3_prepare_v2\n"
                 "Shop!-[FMDatabase executeQuery:]\n"
                 "Shop!-[Dao list]\n" LOOP},
    {"database", "Shop!realm::Table::get_object(long long)\n"
                 "Shop!realm::Results::get(int)\n"
                 "Shop!RLMAccessorContext::box(x)\n"
                 "Shop!-[Inbox messages]\n" LOOP},
    {"file_io", "libsystem_kernel.dylib fsync\n"
                "Foundation -[NSData(NSData) writeToFile:options:error:]\n"
                "Shop!Cache.store(_:)\n" LOOP},
    {"file_io", "libsystem_kernel.dylib read\n"
                "Foundation _NSReadBytesFromFile\n"
                "Foundation -[NSData(NSData) initWithContentsOfFile:]\n"
                "UIKitCore -[UIImage initWithContentsOfFile:]\n"
                "Shop!-[Skin image:]\n" LOOP},
    {"file_io", "libsystem_kernel.dylib getattrlistbulk\n"
                "Foundation -[NSFileManager "
                "enumeratorAtURL:includingPropertiesForKeys:options:errorHandler:]\n"
                "Shop!Cleaner.size()\n" LOOP},
    {"file_io", "libsystem_kernel.dylib mach_msg2_trap\n"
                "libsystem_kernel.dylib mach_msg\n"
                "libxpc.dylib _xpc_send_serializer\n"
                "CoreFoundation -[CFPrefsSource "
                "synchronouslySendDaemonMessage:andAgentMessage:andDirectMessage:replyHandler:]\n"
                "CoreFoundation CFPreferencesSynchronize\n"
                "Foundation -[NSUserDefaults(NSUserDefaults) synchronize]\n"
                "Shop!Settings.save()\n" LOOP},
    {"file_io", "libsystem_kernel.dylib open\n"
                "Foundation specialized _FileManagerImpl.createFile(atPath:contents:attributes:)\n"
                "Foundation FileManager.createFile(atPath:contents:attributes:)\n"
                "Shop!Log.open()\n" LOOP},
    {"file_io", "libsystem_kernel.dylib stat64\n"
                "Shop!Files.exists(_:)\n" LOOP},
    {"file_io", "libsystem_kernel.dylib __open\n"
                "libsystem_c.dylib fopen\n"
                "Shop!Ini::load(char const*)\n" LOOP},
    {"file_io", "libsystem_kernel.dylib mmap\n"
                "Foundation Data.init(contentsOf:options:)\n"
                "Shop!Fonts.register()\n" LOOP},
    {"parsing", "Foundation JSONScanner.scanString()\n"
                "Foundation JSONDecoder.decode<A>(_:from:)\n"
                "Shop!Api.parse(_:)\n" LOOP},
    {"parsing", "libswiftCore.dylib swift_conformsToProtocol\n"
                "libswiftCore.dylib swift_dynamicCast\n"
                "Foundation KeyedDecodingContainer.decode<A>(_:forKey:)\n"
                "Shop!Item.init(from:)\n"
                "Foundation JSONDecoder._decode(_:)\n"
                "Shop!Api.parse(_:)\n" LOOP},
    {"parsing", "Foundation newJSONValue\n"
                "Foundation -[_NSJSONReader parseData:options:error:]\n"
                "Foundation +[NSJSONSerialization JSONObjectWithData:options:error:]\n"
                "Shop!-[Api handle:]\n" LOOP},
    {"parsing", "Foundation _decodeObjectBinary\n"
                "Foundation -[NSKeyedUnarchiver decodeObjectForKey:]\n"
                "Shop!-[User initWithCoder:]\n"
                "Foundation +[NSKeyedUnarchiver unarchiveObjectWithFile:]\n"
                "Shop!-[Account restore]\n" LOOP},
    {"parsing", "libicucore.A.dylib icu::SimpleDateFormat::format(x)\n"
                "CoreFoundation CFDateFormatterCreateStringWithAbsoluteTime\n"
                "Foundation -[NSDateFormatter stringForObjectValue:]\n"
                "Shop!Cell.configure(with:)\n" LOOP},
    {"parsing", "libxml2.2.dylib xmlParseElementStart\n"
                "libxml2.2.dylib xmlParseChunk\n"
                "Foundation -[NSXMLParser parse]\n"
                "Shop!-[Rss load]\n" LOOP},
    {"parsing", "_StringProcessing Processor.run()\n"
                "_StringProcessing Regex.firstMatch(in:)\n"
                "Shop!Text.links()\n" LOOP},
    {"parsing", "Shop!google::protobuf::io::CodedInputStream::ReadTag()\n"
                "Shop!google::protobuf::MessageLite::ParseFromArray(x)\n"
                "Shop!Im::decode()\n" LOOP},
    {"image", "AppleJPEG aj_decode_macroblock\n"
              "ImageIO IIOImageProviderInfo::CopyImageBlockSetWithOptions(x)\n"
              "CoreGraphics CGImageProviderCopyImageBlockSetWithOptions\n"
              "QuartzCore CA::Render::copy_image(x)\n"
              "QuartzCore CA::Transaction::commit()\n" LOOP},
    {"image", "ImageIO PNGReadPlugin::decodeImageImp(x)\n"
              "ImageIO IIOReadPlugin::callDecodeImage(x)\n"
              "CoreGraphics CGContextDrawImage\n"
              "UIKitCore -[UIImage drawInRect:blendMode:alpha:]\n"
              "Shop!UIImage.resized(to:)\n" LOOP},
    {"image", "libwebp.dylib VP8GetMacroblock\n"
              "Shop!-[SDImageWebPCoder decodedImageWithData:options:]\n"
              "Shop!-[Banner show]\n" LOOP},
    {"image", "Shop!VP8LDecodeImage\n"
              "Shop!WebPDecode\n"
              "Shop!-[YYImageDecoder frameAtIndex:decodeForDisplay:]\n"
              "Shop!-[Sticker play]\n" LOOP},
    {"image", "ImageIO HEIFReadPlugin::decodeImageImp(x)\n"
              "UIKitCore -[UIImage imageByPreparingForDisplay]\n"
              "Shop!Photo.prepare()\n" LOOP},
    {"image", "CoreImage CI::Context::render(x)\n"
              "CoreImage -[CIContext createCGImage:fromRect:]\n"
              "Shop!Filter.apply(_:)\n" LOOP},
    {"image", "ImageIO IIO_Reader::write(x)\n"
              "UIKitCore UIImageJPEGRepresentation\n"
              "Shop!Upload.body()\n" LOOP},
    {"layout", "CoreAutoLayout -[NSISLinExpr setCoefficient:forVariable:]\n"
               "CoreAutoLayout -[NSISEngine withBehaviors:performModifications:]\n"
               "UIKitCore -[UIView(AdditionalLayoutSupport) updateConstraintsIfNeeded]\n"
               "UIKitCore -[UIView(CALayerDelegate) layoutSublayersOfLayer:]\n"
               "Shop!Cell.layoutSubviews()\n" LOOP},
    {"layout", "CoreText TLine::DrawGlyphs(x)\n"
               "UIFoundation __NSStringDrawingEngine\n"
               "UIFoundation -[NSAttributedString(NSExtendedStringDrawing) "
               "boundingRectWithSize:options:context:]\n"
               "Shop!-[Cell heightForText:]\n" LOOP},
    {"layout", "SwiftUICore closure #1 in LayoutEngineBox.sizeThatFits(_:)\n"
               "SwiftUICore ViewLayoutEngine.sizeThatFits(_:)\n"
               "SwiftUICore StackLayout.placeChildren(in:)\n"
               "AttributeGraph AG::Graph::UpdateStack::update()\n"
               "Shop!FeedView.body.getter\n" LOOP},
    {"layout", "AttributeGraph AG::Graph::update_attribute(x)\n"
               "AttributeGraph AGGraphGetValue\n"
               "SwiftUI ViewGraph.updateOutputs(at:)\n"
               "SwiftUI _UIHostingView.layoutSubviews()\n" LOOP},
    {"layout", "UIKitCore -[UICollectionViewFlowLayout _fetchItemsInfoForRect:]\n"
               "UIKitCore -[UICollectionView layoutSubviews]\n"
               "UIKitCore -[UIView(CALayerDelegate) layoutSublayersOfLayer:]\n"
               "QuartzCore CA::Layer::layout_if_needed(x)\n" LOOP},
    {"layout", "UIKitCore -[UITableView _updateVisibleCellsNow:]\n"
               "UIKitCore -[UITableView layoutSubviews]\n"
               "UIKitCore -[UIView(CALayerDelegate) layoutSublayersOfLayer:]\n"
               "QuartzCore CA::Layer::layout_if_needed(x)\n" LOOP},
    {"layout", "UIKitCore -[UIView(Hierarchy) layoutIfNeeded]\n"
               "Shop!Panel.expand()\n" LOOP},
    {"layout", "UIFoundation -[NSLayoutManager(NSPrivate) "
               "_fillLayoutHoleForCharacterRange:desiredNumberOfLines:isSoft:]\n"
               "UIKitCore -[UITextView sizeThatFits:]\n"
               "Shop!Composer.resize()\n" LOOP},
    {"layout", "Shop!facebook::yoga::calculateLayoutImpl(x)\n"
               "Shop!YGNodeCalculateLayout\n"
               "Shop!-[RCTRootShadowView layoutWithAffectedShadowViews:]\n" LOOP},
    {"render", "CoreGraphics ripc_DrawPath\n"
               "CoreGraphics CGContextDrawPath\n"
               "UIKitCore -[UIBezierPath fill]\n"
               "Shop!Chart.draw(_:)\n"
               "UIKitCore -[UIView(CALayerDelegate) drawLayer:inContext:]\n"
               "QuartzCore CABackingStoreUpdate_\n" LOOP},
    {"render", "libsystem_kernel.dylib mach_msg2_trap\n"
               "libsystem_kernel.dylib mach_msg\n"
               "QuartzCore CA::Render::Encoder::send_message(x)\n"
               "QuartzCore CA::Context::commit_transaction(x)\n"
               "QuartzCore CA::Transaction::commit()\n" LOOP},
    {"render", "libsystem_kernel.dylib __psynch_cvwait\n"
               "QuartzCore CAMetalLayerPrivateNextDrawableLocked(x)\n"
               "QuartzCore -[CAMetalLayer nextDrawable]\n"
               "Shop!Renderer.draw(in:)\n" LOOP},
    {"render", "UIKitCore -[UIView(Rendering) drawViewHierarchyInRect:afterScreenUpdates:]\n"
               "Shop!Share.snapshot()\n" LOOP},
    {"render", "QuartzCore CA::Layer::prepare_commit(x)\n"
               "QuartzCore CA::Context::commit_transaction(x)\n"
               "QuartzCore CA::Transaction::commit()\n"
               "QuartzCore CA::Transaction::flush_as_runloop_observer(bool)\n" LOOP},
    {"render", "AGXMetalG13 AGX::ComputeContext::performEnqueue(x)\n"
               "Metal -[_MTLCommandBuffer commit]\n"
               "Shop!Renderer.draw(in:)\n" LOOP},
    {"javascript", "JavaScriptCore JSC::JIT::compileWithoutLinking(x)\n"
                   "JavaScriptCore JSC::evaluate(x)\n"
                   "JavaScriptCore JSEvaluateScript\n"
                   "JavaScriptCore -[JSContext evaluateScript:]\n"
                   "Shop!Bridge.run(_:)\n" LOOP},
    {"javascript", "hermes hermes::vm::Interpreter::interpretFunction(x)\n"
                   "hermes facebook::hermes::HermesRuntimeImpl::call(x)\n"
                   "Shop!facebook::react::JSIExecutor::callFunction(x)\n" LOOP},
    {"javascript", "libsystem_kernel.dylib __ulock_wait\n"
                   "libdispatch.dylib _dispatch_sync_f_slow\n"
                   "JavaScriptCore JSC::JSLock::lock(long)\n"
                   "JavaScriptCore JSObjectCallAsFunction\n"
                   "Shop!-[Plugin call]\n" LOOP},
    {"javascript", "JavaScriptCore WTF::ParkingLot::parkConditionallyImpl(x)\n"
                   "JavaScriptCore JSC::Heap::collectNow(x)\n"
                   "JavaScriptCore JSGarbageCollect\n"
                   "Shop!Mini.close()\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg2_internal\n"
            "libxpc.dylib xpc_connection_send_message_with_reply_sync\n"
            "Security securityd_message_with_reply_sync\n"
            "Security SecItemCopyMatching\n"
            "Shop!Keychain.read(_:)\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "UIKitCore -[UIPasteboard hasStrings]\n"
            "Shop!Paste.check()\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "CoreLocation CLClientRetrieveAuthorizationStatus\n"
            "CoreLocation -[CLLocationManager authorizationStatus]\n"
            "Shop!Geo.state.getter\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "Foundation -[NSXPCConnection "
            "_sendInvocation:orArguments:count:methodSignature:selector:withProxy:]\n"
            "Photos -[PHPhotoLibrary authorizationStatus]\n"
            "Shop!Album.open()\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "AudioSession -[AVAudioSession setActive:withOptions:error:]\n"
            "Shop!Player.play()\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "WebKit IPC::Connection::waitForSyncReply(x)\n"
            "WebKit WebKit::WebPageProxy::validateCommand(x)\n"
            "Shop!Web.open()\n" LOOP},
    {"ipc", "libsystem_kernel.dylib mach_msg2_trap\n"
            "libsystem_kernel.dylib mach_msg\n"
            "BackBoardServices _BKSHIDGetBacklightFactor\n"
            "UIKitCore -[UIScreen brightness]\n"
            "Shop!Reader.dim()\n" LOOP},
    {"allocation", "libsystem_malloc.dylib szone_free_definite_size\n"
                   "Shop!Matrix.deinit\n"
                   "Shop!Game.step()\n" LOOP},
    {"allocation", "libsystem_kernel.dylib mach_vm_map_trap\n"
                   "libsystem_kernel.dylib mach_vm_map\n"
                   "libsystem_malloc.dylib mvm_allocate_pages\n"
                   "libsystem_malloc.dylib large_malloc\n"
                   "Shop!Buffer.grow()\n" LOOP},
    {"allocation", "libsystem_malloc.dylib _nanov2_malloc\n"
                   "libswiftCore.dylib swift_slowAlloc\n"
                   "libswiftCore.dylib swift_allocObject\n"
                   "Shop!Feed.map()\n" LOOP},
    {"allocation", "libsystem_kernel.dylib madvise\n"
                   "libsystem_malloc.dylib tiny_free_no_lock\n"
                   "Shop!Pool.drain()\n" LOOP},
    {"allocation", "libsystem_malloc.dylib xzm_malloc_zone_free\n"
                   "Shop!Tree.clear()\n" LOOP},
    {"launch", "dyld dyld4::Loader::applyFixupsGeneric(x)\n"
               "dyld dyld4::JustInTimeLoader::applyFixups(x)\n"
               "dyld dyld4::prepare(x)\n"
               "dyld start\n"},
    {"launch", "libobjc.A.dylib realizeClassWithoutSwift\n"
               "libobjc.A.dylib map_images\n"
               "dyld dyld4::RuntimeState::notifyObjCInit(x)\n"
               "dyld start\n"},
    {"launch", "Shop!+[Tracker load]\n"
               "libobjc.A.dylib load_images\n"
               "dyld dyld4::RuntimeState::notifyObjCInit(x)\n"
               "dyld start\n"},
    {"launch", "libsystem_kernel.dylib __mmap\n"
               "dyld dyld3::MachOLoaded::forEachSegment(x)\n"
               "dyld dlopen_from\n"
               "Shop!Plugin.load()\n" LOOP},
    {"launch", "Shop!__cxx_global_var_init.12\n"
               "Shop!_GLOBAL__sub_I_table.cpp\n"
               "dyld dyld4::Loader::findAndRunAllInitializers(x)\n"
               "dyld start\n"},
    {"cpu", "Shop!Feed.sort()\n"
            "Shop!Feed.reload()\n" LOOP},
    {"cpu", "libswiftCore.dylib swift_release\n"
            "libswiftCore.dylib swift_arrayDestroy\n"
            "Shop!closure #1 in Feed.diff(_:)\n" LOOP},
    {"cpu", "libobjc.A.dylib objc_retain\n"
            "CoreFoundation -[__NSArrayM addObject:]\n"
            "Shop!-[Index build]\n" LOOP},
    {"cpu", "libswiftCore.dylib Dictionary.subscript.getter\n"
            "Shop!Graph.visit(_:)\n"
            "SwiftUI ViewBodyAccessor.updateBody(of:changed:)\n" LOOP},
    {"cpu", "libcorecrypto.dylib ccsha256_vng_arm64_compress\n"
            "libcommonCrypto.dylib CC_SHA256_Update\n"
            "Shop!Hash.file(_:)\n" LOOP},
    {"cpu", "libsystem_platform.dylib _platform_memmove\n"
            "Shop!Codec::decode(x)\n" LOOP},
    {"cpu", "libswiftCore.dylib specialized MutableCollection.sort(by:)\n"
            "Shop!Inbox.order()\n" LOOP},
    {"cpu", "CoreFoundation -[NSMutableArray sortUsingComparator:]\n"
            "Shop!-[Contacts sort]\n" LOOP},
    {"idle", "libsystem_kernel.dylib mach_msg2_trap\n"
             "libsystem_kernel.dylib mach_msg2_internal\n"
             "libsystem_kernel.dylib mach_msg_overwrite\n"
             "libsystem_kernel.dylib mach_msg\n"
             "CoreFoundation __CFRunLoopServiceMachPort\n"
             "CoreFoundation __CFRunLoopRun\n"
             "CoreFoundation CFRunLoopRunSpecific\n"
             "GraphicsServices GSEventRunModal\n"
             "UIKitCore -[UIApplication _run]\n"
             "UIKitCore UIApplicationMain\n"
             "SwiftUI closure #1 in KitRendererCommon(_:)\n"
             "SwiftUI runApp<A>(_:)\n"
             "SwiftUI static App.main()\n"
             "Shop!static ShopApp.$main()\n"
             "Shop!main\n"
             "dyld start\n"},
    {"idle", "libsystem_kernel.dylib mach_msg_trap\n"
             "libsystem_kernel.dylib mach_msg\n"
             "CoreFoundation __CFRunLoopServiceMachPort\n"
             "CoreFoundation __CFRunLoopRun\n"
             "CoreFoundation CFRunLoopRunSpecific\n"
             "GraphicsServices GSEventRunModal\n"
             "UIKitCore UIApplicationMain\n"
             "Shop!main\n"
             "libdyld.dylib start\n"},
    {"idle", "libsystem_kernel.dylib mach_msg_trap\n"
             "libsystem_kernel.dylib mach_msg\n"
             "CoreFoundation __CFRunLoopServiceMachPort\n"
             "CoreFoundation __CFRunLoopRun\n"
             "CoreFoundation _CFRunLoopRunSpecificWithOptions\n"
             "GraphicsServices GSEventRunModal\n"
             "UIKitCore -[UIApplication _run]\n"
             "UIKitCore UIApplicationMain\n"
             "Shop!main\n"
             "dyld start\n"},
    {"idle", "libsystem_kernel.dylib mach_msg_trap\n"
             "libsystem_kernel.dylib mach_msg\n"
             "CoreFoundation __CFRunLoopServiceMachPort\n"
             "CoreFoundation __CFRunLoopRun\n"
             "CoreFoundation CFRunLoopRunSpecific\n"
             "GraphicsServices GSEventRunModal\n"
             "UIKit UIApplicationMain\n"
             "Shop!main\n"},
    /* A run loop of the app's own inside the main one: nobody says for whom it waits. */
    {"unknown", "libsystem_kernel.dylib mach_msg2_trap\n"
                "libsystem_kernel.dylib mach_msg\n"
                "CoreFoundation __CFRunLoopServiceMachPort\n"
                "CoreFoundation __CFRunLoopRun\n"
                "Foundation -[NSRunLoop(NSRunLoop) runMode:beforeDate:]\n"
                "Shop!Spinner.wait()\n" LOOP},
};

static struct arena arena;

static const char *category(const struct rules *rules, const char *text)
{
    struct cluster_verdict v;
    struct error err = {0};
    struct resolved_stack stack = stack_from_text(text, &arena);
    enum err e = cluster_key_of(rules, NULL, "app", &stack, &arena, &v, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
    return v.category;
}

START_TEST(every_kind)
{
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    arena_init(&arena, 4 << 20);
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        const char *got = category(rules, KINDS[i].stack);
        ck_assert_msg(strcmp(got, KINDS[i].category) == 0, "%s, not %s:\n%s", got,
                      KINDS[i].category, KINDS[i].stack);
    }
    arena_done(&arena);
    rules_free(rules);
}
END_TEST

START_TEST(stacks_of_the_field)
{
    struct rules *rules = NULL;
    int wrong = 0;
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    arena_init(&arena, 16 << 20);
    for (size_t i = 0; i < sizeof(FIELD) / sizeof(FIELD[0]); i++) {
        const char *got = category(rules, FIELD[i].stack);
        if (strcmp(got, FIELD[i].category) == 0)
            continue;
        wrong++;
        fprintf(stderr, "%s, not %s:\n%s\n", got, FIELD[i].category, FIELD[i].stack);
    }
    ck_assert_int_eq(wrong, 0);
    arena_done(&arena);
    rules_free(rules);
}
END_TEST

START_TEST(the_first_rule_wins_and_boundaries_hold)
{
    static const char TEXT[] = "category=late: b\ncategory=early: a\nboundary: edge\n";
    struct rules *rules = NULL;
    ck_assert_int_eq(rules_new(TEXT, strlen(TEXT), &rules, NULL), ERR_OK);
    arena_init(&arena, 1 << 20);
    ck_assert_str_eq(category(rules, "L a\nL b\n"), "late");
    ck_assert_str_eq(category(rules, "L a\nL edge\nL b\n"), "early");
    ck_assert_str_eq(category(rules, "L x\nL edge\nL b\n"), "unknown");
    arena_done(&arena);
    rules_free(rules);
}
END_TEST

UNIT_MAIN("category", every_kind, stacks_of_the_field, the_first_rule_wins_and_boundaries_hold)
