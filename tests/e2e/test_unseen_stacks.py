#!/usr/bin/env python3
"""How good clusters are on hand-written stacks of other apps, causes and iOS versions than those the
rules were tuned on (unseen_stacks.txt, holdout_stacks.txt): pairwise precision and recall, and no
stall among idle ones.
Also: no class of an app that merely begins like a vendor's is taken for the vendor's."""
import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys

STALLSYMD = os.environ['STALLSYMD']
HERE = pathlib.Path(__file__).parent


def read_stacks(text):
    """Rows as `stallsymd cluster` reads them, with the cause as `label`."""
    images, tails, rows = {}, {}, []
    app = cause = frames = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(None, 1)
        if not words or words[0] == '#' or line.startswith('# '):
            continue
        rest = words[1] if len(words) > 1 else ''
        if words[0] == 'let':
            short, image = rest.split()
            images[short] = image
        elif words[0] == 'tail':
            frames = tails[rest] = []
        elif words[0] == 'cause':
            cause, app = rest.split()
        elif words[0] == 'stack':
            frames = []
            rows.append({'id': '%s/%s' % (cause, rest), 'label': cause, 'app': app,
                         'frames': frames})
        elif words[0].startswith('@'):
            frames.extend(tails[words[0][1:]])
        else:
            assert rest, 'line %d: a frame without a name' % number
            frames.append((words[0], rest))
    for row in rows:
        row['modules'] = [row['app'] if m == '.' else images.get(m, m) for m, _ in row['frames']]
        row['frames'] = [name for _, name in row['frames']]
    assert len({row['id'] for row in rows}) == len(rows), 'two stacks of one name'
    return rows


def clusters(rows, *arguments):
    text = ''.join(json.dumps(row) + '\n' for row in rows)
    out = subprocess.run([STALLSYMD, 'cluster', *arguments], input=text, capture_output=True,
                         text=True, check=True).stdout
    return dict(line.split('\t') for line in out.splitlines())


def pairs(groups):
    return sum(n * (n - 1) // 2 for n in collections.Counter(groups).values())


def measure(rows, found):
    both = pairs((row['label'], found[row['id']]) for row in rows)
    made, wanted = pairs(found[row['id']] for row in rows), pairs(row['label'] for row in rows)
    return both / made, both / wanted


def show(rows, found):
    for cluster, members in itertools.groupby(sorted(rows, key=lambda r: found[r['id']]),
                                              key=lambda r: found[r['id']]):
        members = list(members)
        if len({row['label'] for row in members}) > 1:
            print('  mixed:', cluster, ' '.join(row['id'] for row in members))
    for cause, members in itertools.groupby(sorted(rows, key=lambda r: r['label']),
                                            key=lambda r: r['label']):
        split = {found[row['id']] for row in members}
        if len(split) > 1:
            print('  split:', cause, *(sorted(split)))


# Of each set, and of the first stage alone: the least precision and recall. The hold-out set was
# written without knowledge of the rules; they had .746 and .744 on it by the first stage, .820 and
# .778 in all, before what it showed was mended for all stacks of its kinds.
SETS = (('unseen_stacks.txt', ('--no-merge',), .95, .85), ('unseen_stacks.txt', (), .95, .85),
        ('holdout_stacks.txt', ('--no-merge',), .87, .90), ('holdout_stacks.txt', (), .95, .93))
failed = 0
for name, arguments, least_precision, least_recall in SETS:
    rows = read_stacks((HERE / name).read_text())
    found = clusters(rows, *arguments)
    precision, recall = measure(rows, found)
    idle = {found[row['id']] for row in rows if row['label'] == 'idle'}
    mixed = [row['id'] for row in rows if row['label'] != 'idle' and found[row['id']] in idle]
    print('%s %s: %d stacks of %d causes, precision %.3f, recall %.3f, %d clusters, idle mix %d' % (
        name, ' '.join(arguments), len(rows), len({row['label'] for row in rows}), precision,
        recall, len(set(found.values())), len(mixed)))
    show(rows, found)
    if precision < least_precision or recall < least_recall or mixed or len(idle) != 1:
        print('  too little, or idle ones among the others')
        failed += 1
    if clusters(rows[::-1], *arguments) != found:
        print('  the order of the stacks matters')
        failed += 1

# One name or two of each kind of vendor, linked into the app: the app's frame behind is the culprit.
VENDORS = """
-[FMDatabase executeQuery:]|-[RLMRealm commitWriteTransaction]|realm::Table::size() const
WCDB::Database::close()|-[MMKV getStringForKey:]|mmkv::MMKV::getString(std::string const&)
sqlite3VdbeExec|sqlcipher_codec_ctx_set_pass|-[YYKVStorage getItemForKey:]
-[SDWebImageManager loadImageWithURL:options:progress:completed:]|-[SDImageCache queryCacheOperation]
-[UIImageView(WebCache) sd_setImageWithURL:]|-[UIImage(YYAdd) yy_imageByDecoded]|VP8LDecodeImage
KingfisherManager.retrieveImage(with:)|YYCGImageCreateDecodedCopy|-[FLAnimatedImage imageAtIndex:]
-[AFHTTPSessionManager GET:parameters:headers:progress:success:failure:]|-[GCDAsyncSocket doReadData]
-[SRWebSocket send:]|grpc_core::ExecCtx::Flush()|google::protobuf::Arena::~Arena()|-[GPBMessage data]
PKCS5_PBKDF2_HMAC|bssl::ssl_read_impl(ssl_st*)|SHA256_Update|inflate_fast|absl::Mutex::Lock()
-[RACSubject sendNext:]|-[NSObject(RACLifting) rac_liftSelector:]|-[AnyPromise wait]
-[MTLJSONAdapter modelFromJSONDictionary:error:]|-[JSONModel initWithDictionary:error:]
-[MASConstraintMaker install]|-[UIView(MASAdditions) mas_makeConstraints:]|-[LOTAnimationView play]
-[ASDisplayNode layoutThatFits:]|-[IGListAdapter reloadDataWithCompletion:]
-[RCTBridge setUp]|RCTConvertArrayValue|facebook::react::Instance::callJSFunction(std::string&&)
folly::dynamic::operator[](int)|hermes::vm::Interpreter::execute()|yoga::calculateLayout()|YGNodeNew
-[FlutterEngine runWithEntrypoint:]|flutter::Shell::Setup()|il2cpp::vm::Class::Init(Il2CppClass*)
-[FIRApp configure]|+[GULLoggerWrapper log]|-[GDTCORTransporter queueEvent:]|-[FBSDKAppEvents flush]
-[ADJActivityHandler start]|-[AppsFlyerLib start]|-[UAirship takeOff]|-[Mixpanel track:]
-[GMSMapView setCamera:]|mbgl::Map::renderStill()|-[MGLMapView setStyleURL:]|+[WXApi isWXAppInstalled]
-[AlipaySDK payOrder:]|avformat_open_input|-[IJKFFMoviePlayerController play]|webrtc::PeerConnection::Close()
tflite::Interpreter::Invoke()|SkCanvas::drawPath(SkPath const&, SkPaint const&)|+[DDLog log:level:]
$s9Alamofire7SessionC7requestyyF|$s7RxSwift10ObservableC9subscribeyyF|$s7SnapKit15ConstraintMakerC4makeyyF
$s4Moya12MoyaProviderC7requestyyF|$sSo7UIImageC10KingfisherE8decodingyyF|$s6Lottie13AnimationViewC4playyyF
-[SentryHub captureEvent:]|sentrycrashbt_captureBacktrace|kscm_getActiveMonitors|bsg_kscrash_report
-[BLYBlockMonitor check]|-[WCBlockMonitorMgr check]|-[WCCrashBlockMonitor handle]|plcrash_async_thread
-[NRMAHarvester execute]|-[HMDANRMonitor check]|-[IBGHangMonitor check]|FIRCLSHandleException
__ASPECTS_ARE_BEING_CALLED__|JPForwardInvocation|-[Feed swizzled_viewDidLoad]
"""
# An app's own, that begin alike.
OWN = """
RxPharmacyController.load()|RxOrder.refill(_:)|-[RxOrderStore load]|Session.load()|Cache.trim()
Resolver.resolve(_:)|-[ASTableController reload]|-[ASAgenda load]|-[REAgentList reload]|-[GAIAView draw]
-[AdjustmentPanel show]|-[BranchLocator nearest]|-[Branch load]|-[IntercomCallController ring]
-[EmbraceView hug]|-[CKLabelView layout]|-[EXTrainer load]|net::Client::poll()|base::Clock::tick()
SkateBoard::draw()|Json2Model::parse()|MatrixView.multiply(_:)|-[MatrixScreen show]|Logging.flush()
-[Feed insertRow]|-[Feed umbrella]|-[Feed save_all]|Collections.load()|-[FSTrainer run]|-[APaymentView pay]
ChartsController.draw()|-[MASterplan load]|-[GPBoard load]|-[UAEMap load]|-[SDeck load]|-[YTPlayer load]
-[AFlower grow]|-[DDay count]|-[WCup score]|-[BUilder build]|-[RCanoe row]|-[FBook read]|-[RACer go]
$s7RxCards4DeckC7shuffleyyF|$s5Cache5StoreC4trimyyF|$s4Shop15AlamofireClientC4loadyyF
"""


def behind(names):
    """Which names, with a caller of the app's behind them, are one cluster with the caller alone."""
    rows = [{'id': '-', 'frames': ['Till.open()'], 'modules': ['Bazaar']}]
    rows += [{'id': n, 'frames': [n, 'Till.open()'], 'modules': ['Bazaar', 'Bazaar']}
             for n in names]
    found = clusters(rows, '--no-merge')
    return {n for n in names if found[n] == found['-']}


vendors, own = (set(text.strip().replace('\n', '|').split('|')) for text in (VENDORS, OWN))
for name in sorted(vendors - behind(vendors)):
    print('taken for the app\'s:', name)
    failed += 1
for name in sorted(behind(own)):
    print('taken for a vendor\'s:', name)
    failed += 1

sys.exit(1 if failed else 0)
