/*
 * Which names fall together and which apart. Names with the same text in their row are one cluster,
 * names with different ones are two.
 *
 * Covers: symbolizer/demangle_swift_key.c
 */
#include <stdio.h>
#include <string.h>

#include "symbolizer/demangle_swift.h"
#include "tests/support/unit.h"

struct key_case {
    const char *name;
    const char *key;
};

/* Symbols of Swift's libraries and of old apps. */
static const struct key_case real[] = {
    {"$s5Glibc5atan2yS2f_SftF", "atan2(_:_:)"},
    {"$s12_RegexParser3ASTV4AtomV4KindO4hash4intoys6HasherVz_tF", "AST.Atom.Kind.hash(into:)"},
    {"$sSTsE10enumerateds18EnumeratedSequenceVyxGyF", "Sequence.enumerated()"},
    {"$s10Foundation17NSAffineTransformC5scale2byyAA7CGFloatV_tF", "NSAffineTransform.scale(by:)"},
    {"$s10Foundation18ByteCountFormatterC10isAdaptiveSbvg", "ByteCountFormatter.isAdaptive.getter"},
    {"$ss15ContiguousArrayV12customMirrors0D0Vvg", "ContiguousArray.customMirror.getter"},
    {"$s10Foundation30NSUTF32BigEndianStringEncodingSS0A10EssentialsE0F0Vvg",
     "NSUTF32BigEndianStringEncoding.getter"},
    {"$s22_FoundationCollections9BigStringV17UnicodeScalarViewV11descriptionSSvg",
     "BigString.UnicodeScalarView.description.getter"},
    {"$s10Foundation23StreamSOCKSProxyVersionV8rawValueSSvpMV", "StreamSOCKSProxyVersion.rawValue"},
    {"$ss5ErrorP10FoundationAC13CustomNSErrorRzrlE5_codeSivpMV", "Error._code"},
    {"$s20FoundationEssentials4DataV11InlineSliceV10startIndexSivpMV",
     "Data.InlineSlice.startIndex"},
    {"$s10Foundation16NSObjectProtocolPAAE16debugDescriptionSSvpMV",
     "NSObjectProtocol.debugDescription"},
    {"$s10Foundation14NSNotificationC4NameV30NSFileHandleConnectionAcceptedAEvpZ",
     "static NSNotification.Name.NSFileHandleConnectionAccepted"},
    {"$s20FoundationEssentials16AttributedStringV4RunsV3RunV2eeoiySbAG_AGtFZ",
     "static AttributedString.Runs.Run.==(_:_:)"},
    {"$s20FoundationEssentials11JSONEncoderC16OutputFormattingV22withoutEscapingSlashesAEvgZ",
     "static JSONEncoder.OutputFormatting.withoutEscapingSlashes.getter"},
    {"$s10Foundation12UserDefaultsC18registrationDomainSSvpZ",
     "static UserDefaults.registrationDomain"},
    {"$s12_RegexParser3ASTV5GroupV4KindOAA13_ASTPrintableAAMc",
     "protocol conformance descriptor for AST.Group.Kind"},
    {"$s10Foundation6CGRectVSeAAMc", "protocol conformance descriptor for CGRect"},
    {"$s30FoundationInternationalization18IntegerFormatStyleV7PercentVyx_GSEAAMc",
     "protocol conformance descriptor for IntegerFormatStyle.Percent"},
    {"$s20FoundationEssentials6LocaleV8LanguageV10ComponentsVSEAAMc",
     "protocol conformance descriptor for Locale.Language.Components"},
    {"$s10Foundation13DateFormatterC10eraSymbolsSaySSGvgTq", "DateFormatter.eraSymbols.getter"},
    {"$s6XCTest0A3RunC9startDate20FoundationEssentials0D0VSgvgTq", "XCTestRun.startDate.getter"},
    {"$s10Foundation15NSKeyedArchiverC11encodedData0A10Essentials0E0VvgTq",
     "NSKeyedArchiver.encodedData.getter"},
    {"$s10Foundation20MeasurementFormatterC6locale0A10Essentials6LocaleVSgvsTq",
     "MeasurementFormatter.locale.setter"},
    {"$ss8_PointerPsEyxs06OpaqueA0VcfC", "_Pointer.init(_:)"},
    {"$s10Foundation15NSDecimalNumberC14booleanLiteralACSb_tcfC",
     "NSDecimalNumber.init(booleanLiteral:)"},
    {"$ss8RangeSetVAByxGycfC", "RangeSet.init()"},
    {"$sSdySds7Float80VcfC", "Double.init(_:)"},
    {"$s10Foundation15LengthFormatterC06numberC0AA06NumberC0CSgvs",
     "LengthFormatter.numberFormatter.setter"},
    {"$s12_Backtracing9BacktraceV5ImageV4nameSSvs", "Backtrace.Image.name.setter"},
    {"$s10Foundation15AffineTransformV2tXAA7CGFloatVvs", "AffineTransform.tX.setter"},
    {"$s7Testing5EventV21ConsoleOutputRecorderV7OptionsV9tagColorsSDyAA3TagVAJ5ColorVGvs",
     "Event.ConsoleOutputRecorder.Options.tagColors.setter"},
    {"$s12_Backtracing13ARM64RegisterO2z0yA2CmFWC", "enum case for ARM64Register.z0(_:)"},
    {"$s12_RegexParser3ASTV9ReferenceV4KindO5namedyAGSScAGmFWC",
     "enum case for AST.Reference.Kind.named(_:)"},
    {"$ss25FloatingPointRoundingRuleO10towardZeroyA2BmFWC",
     "enum case for FloatingPointRoundingRule.towardZero(_:)"},
    {"$s12_Backtracing13ARM64RegisterO3p13yA2CmFWC", "enum case for ARM64Register.p13(_:)"},
    {"$s30FoundationInternationalization20ByteCountFormatStyleV10AttributedV13spellsOutZeroSbvM",
     "ByteCountFormatStyle.Attributed.spellsOutZero.modify"},
    {"$s10Foundation15NumberFormatterC20minimumIntegerDigitsSivM",
     "NumberFormatter.minimumIntegerDigits.modify"},
    {"$s6XCTest9XCTWaiterC9_delegate33_2346E327B0869000038D69E51A22360ELLAA0B8Delegate_pSgvM",
     "XCTWaiter._delegate.modify"},
    {"$s12_RegexParser3ASTV11ConditionalV9ConditionV17PCREVersionNumberV5minorAC4AtomV0G0VvM",
     "AST.Conditional.Condition.PCREVersionNumber.minor.modify"},
    {"$ss17CodingUserInfoKeyVMa", "type metadata accessor for CodingUserInfoKey"},
    {"$s12_RegexParser3ASTV14QuantificationV6AmountOMa",
     "type metadata accessor for AST.Quantification.Amount"},
    {"$s10Foundation8NSObjectCMa", "type metadata accessor for NSObject"},
    {"$ss23LazyPrefixWhileSequenceV8IteratorVMa",
     "type metadata accessor for LazyPrefixWhileSequence.Iterator"},
    {"$ss6UInt64Vs18AdditiveArithmeticsWP", "protocol witness table for UInt64"},
    {"$sSD4KeysVyxq__GSQsWP", "protocol witness table for Dictionary.Keys"},
    {"$ss12StaticStringVs17CustomReflectablesWP", "protocol witness table for StaticString"},
    {"$s12_Backtracing17LocalMemoryReaderVAA0cD0AAWP",
     "protocol witness table for LocalMemoryReader"},
    {"$ss10_HashTableV8IteratorVN", "type metadata for _HashTable.Iterator"},
    {"$s10Foundation25PropertyListSerializationCN", "type metadata for PropertyListSerialization"},
    {"$ss15UnboundedRange_ON", "type metadata for UnboundedRange_"},
    {"$s10Foundation21NSComparisonPredicateCN", "type metadata for NSComparisonPredicate"},
    {"$s20FoundationEssentials16AttributedStringV30AttributeInvalidationConditionVMn",
     "nominal type descriptor for AttributedString.AttributeInvalidationCondition"},
    {"$ss18__SwiftNativeNSSetCMn", "nominal type descriptor for __SwiftNativeNSSet"},
    {"$ss30AsyncThrowingDropWhileSequenceV8IteratorVMn",
     "nominal type descriptor for AsyncThrowingDropWhileSequence.Iterator"},
    {"$sScEMn", "nominal type descriptor for CancellationError"},
    {"$sSksSx5IndexRpzSnyABG7IndicesRtzSiAA_6StrideRTzrlE7indicesACvgs15ContiguousArrayVyypG_Tg5",
     "RandomAccessCollection.indices.getter"},
    {"$sSa15reserveCapacityyySiFs6UInt64V_Tg5", "Array.reserveCapacity(_:)"},
    {"$sSa5countSivgSi_Tg5", "Array.count.getter"},
    {"$sSa9formIndex6beforeySiz_tFyp_Tg5", "Array.formIndex(before:)"},
    {"$s10Foundation8NSStringC18EnumerationOptionsV7byLinesAEvau",
     "NSString.EnumerationOptions.byLines.unsafeMutableAddressor"},
    {"$s10Foundation20NSHelpAnchorErrorKeySSvau", "NSHelpAnchorErrorKey.unsafeMutableAddressor"},
    {"$s10Foundation18NSAttributedStringC18EnumerationOptionsV7reverseAEvau",
     "NSAttributedString.EnumerationOptions.reverse.unsafeMutableAddressor"},
    {"$s10Foundation16AlignmentOptionsV16alignMinYNearestACvau",
     "AlignmentOptions.alignMinYNearest.unsafeMutableAddressor"},
    {"$sSF8exponent8ExponentQzvgTj", "FloatingPoint.exponent.getter"},
    {"$ss33ExpressibleByUnicodeScalarLiteralP07unicodedE0x0cdE4TypeQz_tcfCTj",
     "ExpressibleByUnicodeScalarLiteral.init(unicodeScalarLiteral:)"},
    {"$sSly7ElementQz5IndexQzcirTj", "Collection.subscript.read"},
    {"$s12_Backtracing24BacktraceFormattingThemeP9imageNameyS2SFTj",
     "BacktraceFormattingTheme.imageName(_:)"},
    {"$s10Foundation9UnitAngleC5coderACSgAA7NSCoderC_tcfc", "UnitAngle.init(coder:)"},
    {"$s10Foundation17NSMutableIndexSetCACycfc", "NSMutableIndexSet.init()"},
    {"$s20FoundationNetworking19NSMutableURLRequestC18protocolPropertiesSDySSypGvpfi",
     "NSMutableURLRequest.protocolProperties"},
    {"$s20FoundationNetworking14URLSessionTaskC29countOfBytesExpectedToReceives5Int64Vvpfi",
     "URLSessionTask.countOfBytesExpectedToReceive"},
    {"$s10Foundation8NSStringCfD", "NSString.deinit"},
    {"$s22_FoundationCollections4RopeV8_StorageCfD", "Rope._Storage.deinit"},
    {"$ss15LazyMapSequenceVsSlRzrlEyABy03SubC0Qzq_GSny5IndexQzGcig",
     "LazyMapSequence.subscript.getter"},
    {"$s22_FoundationCollections12BigSubstringV17UnicodeScalarViewVyAESnyAA0C6StringV5IndexVGcig",
     "BigSubstring.UnicodeScalarView.subscript.getter"},
    {"$s10Foundation11NSPredicateCfd", "NSPredicate.deinit"},
    {"$s10Foundation8NSObjectCfd", "NSObject.deinit"},
    {"$s7Testing27CustomTestArgumentEncodableMp",
     "protocol descriptor for CustomTestArgumentEncodable"},
    {"$s11Distributed0A11ActorSystemMp", "protocol descriptor for DistributedActorSystem"},
    {"$ss8_PointerPSxTb", "base conformance descriptor for _Pointer: Strideable"},
    {"$s20FoundationEssentials19MutableDataProtocolPSMTb",
     "base conformance descriptor for MutableDataProtocol: MutableCollection"},
    {"$sSays10ArraySliceVyxGSnySiGcis", "Array.subscript.setter"},
    {"$ss5Int32V12SIMD8StorageVyABSicis", "Int32.SIMD8Storage.subscript.setter"},
    {"$s20FoundationEssentials13__DataStorageC7_offsetSivpWvd",
     "direct field offset for __DataStorage._offset"},
    {"$s10Foundation13MassFormatterC9unitStyleAA0C0C04UnitE0OvpWvd",
     "direct field offset for MassFormatter.unitStyle"},
    {"$s10Foundation21_BridgedStoredNSErrorTL",
     "protocol requirements base descriptor for _BridgedStoredNSError"},
    {"$ss5ClockTL", "protocol requirements base descriptor for Clock"},
    {"$ss19AsyncPrefixSequenceV8IteratorV4next9isolation7ElementQzSgScA_pSgYi_tYa7FailureQzYKFTu",
     "AsyncPrefixSequence.Iterator.next(isolation:)"},
    {"$ss5ClockPsE7measurey8DurationQzyyYaKXEYaKFTu", "Clock.measure(_:)"},
    {"$ss7Float16V2meoiyyABz_ABtFZTJrSSUpSr", "static Float16.*=(_:_:)"},
    {"$sSayxSicig16_Differentiation14DifferentiableRzlTJrUSpSr", "Array.subscript.getter"},
    {"$ss16_UnicodeEncodingP13EncodedScalarAB_SKTn",
     "associated conformance descriptor for _UnicodeEncoding._UnicodeEncoding.EncodedScalar: "
     "BidirectionalCollection"},
    {"$ss10SIMDScalarP13SIMD16StorageAB_s11SIMDStorageTn",
     "associated conformance descriptor for SIMDScalar.SIMDScalar.SIMD16Storage: SIMDStorage"},
    {"$ss7Float80V2meoiyyABz_ABtFZTJfSSUpSr", "static Float80.*=(_:_:)"},
    {"$ss7Float16V2meoiyyABz_ABtFZTJfSSUpSr", "static Float16.*=(_:_:)"},
    {"$s11MaskStorages4SIMDPTl", "associated type descriptor for SIMD.MaskStorage"},
    {"$s8IteratorSTTl", "associated type descriptor for Sequence.Iterator"},
    {"$sBi32_Bv16_WV", "value witness table for Builtin.Vec16xInt32"},
    {"$sBi8_Bv16_WV", "value witness table for Builtin.Vec16xInt8"},
    {"$s16_Differentiation7_vjpLogySf5value_S2fc8pullbacktSfF", "_vjpLog(_:)"},
    {"$s16_Differentiation7_jvpErfySf5value_S2fc12differentialtSfF", "_jvpErf(_:)"},
    {"$ss11CommandLineO5_argcs5Int32VvMZ", "static CommandLine._argc.modify"},
    {"$ss17_EachFieldOptionsV13ignoreUnknownABvMZ",
     "static _EachFieldOptions.ignoreUnknown.modify"},
    {"$ss30_AnyBidirectionalCollectionBoxCMu",
     "method lookup function for _AnyBidirectionalCollectionBox"},
    {"$ss12_IteratorBoxCMu", "method lookup function for _IteratorBox"},
    {"$s5Basic13standardErrorAA11CFileStreamVvp", "standardError"},
    {"$s20FoundationNetworking23NSURLProtectionSpaceFTPSSvp", "NSURLProtectionSpaceFTP"},
    {"$ss2neoiySbypXpSg_ABtF", "!=(_:_:)"},
    {"$ss2neoiySbx_xtSYRzSQ8RawValueRpzlF", "!=(_:_:)"},
    {"$ss15_AnySequenceBoxCMo", "class metadata base offset for _AnySequenceBox"},
    {"$ss14_CollectionBoxCMo", "class metadata base offset for _CollectionBox"},
    {"$s22_FoundationCollections12BigSubstringV17UnicodeScalarViewVN",
     "type metadata for BigSubstring.UnicodeScalarView"},
    {"$sSS17UnicodeScalarViewVN", "type metadata for String.UnicodeScalarView"},
    {"$s10Foundation3eeeoiySbyXlXp_yXlXptF", "===(_:_:)"},
    {"$ss1goiySbx_q_q0_t_x_q_q0_ttSLRzSLR_SLR0_r1_lF", ">(_:_:)"},
    {"$s11Observation0A9RegistrarV6access_7keyPathyx_s03KeyE0Cyxq_GtAA10ObservableRzr0_lF",
     "ObservationRegistrar.access(_:keyPath:)"},
    {"$ss32_diagnoseUnexpectedEnumCaseValue4type03rawE0s5NeverOxm_q_tr0_lF",
     "_diagnoseUnexpectedEnumCaseValue(type:rawValue:)"},
    {"$ss20_unsafeReferenceCast_2toq_x_q_mtr0_lF", "_unsafeReferenceCast(_:to:)"},
    {"$ss22withUnsafeMutableBytes2of_q_xz_q_SwKXEtKr0_lF", "withUnsafeMutableBytes(of:_:)"},
    {"$sSa12_endMutationyyFyXl_Ts5", "Array._endMutation()"},
    {"$s20FoundationEssentials4DataV17_contentsOfRemote7optionsAcA3URLV_AC14ReadingOptionsVtKcfCTx",
     "Data.init(_contentsOfRemote:options:)"},
    {"$s5Basic13standardError_WZ", "standardError"},
    {"$sSwMn", "nominal type descriptor for UnsafeMutableRawBufferPointer"},
    {"$ss12StaticStringV18_utf8CodeUnitCountBwvg", "StaticString._utf8CodeUnitCount.getter"},
    {"_TWaVs5Int64s10MirrorPaths", "protocol witness table accessor for Int64"},
    {"_TFV10Foundation17URLResourceValuesg9allValuesGVs10DictionaryVSC14URLResourceKeyP__",
     "URLResourceValues.allValues.getter"},
    {"_TMaVs13_StructMirror", "type metadata accessor for _StructMirror"},
    {"_TMnOs14_StopIteration", "nominal type descriptor for _StopIteration"},
    {"_TWVOs5Never", "value witness table for Never"},
    {"_TMLP_", "lazy cache variable for type metadata for Any"},
    {"_TWvdvCs32_NativeSetStorageKeyNSEnumerator18nativeStorageOwnerGCs22_NativeSetStorageOwnerx_",
     "direct field offset for _NativeSetStorageKeyNSEnumerator.nativeStorageOwner"},
    {"_TFV10Foundation12URLQueryItems5valueGSqSS_", "URLQueryItem.value.setter"},
    {"_TFV8Dispatch11DispatchQoSau15userInteractiveS0_",
     "DispatchQoS.userInteractive.unsafeMutableAddressor"},
    {"_TFVs15ContiguousArray23withUnsafeBufferPointerurfzFzGSRx_qd__qd__",
     "ContiguousArray.withUnsafeBufferPointer(_:)"},
    {"_TMPVs18BidirectionalSlice", "generic type metadata pattern for BidirectionalSlice"},
    {"_TFVs24_NativeDictionaryStorage5indexfT5afterGVs22_NativeDictionaryIndexxq___GS0_xq__",
     "_NativeDictionaryStorage.index(after:)"},
    {"_TFC11SentrySwift16RequestOperationCfT_S0_", "RequestOperation.init()"},
    {"_TIFE8DispatchCSo10DispatchIO5closeFT5flagsVES_S0_10CloseFlags_T_A_",
     "DispatchIO.close(flags:)"},
    {"_TMps13IndexableBase", "protocol descriptor for IndexableBase"},
    {"_TFC11SentrySwift21UserFeedbackViewModelm16submitButtonTextSS",
     "UserFeedbackViewModel.submitButtonText.materializeForSet"},
    {"_TFE10FoundationVs5Int32CfCSo8NSNumberS0_", "Int32.init(_:)"},
    {"_TFV10Foundation8IndexSet9formIndexfT6beforeRVS0_5Index_T_", "IndexSet.formIndex(before:)"},
    {"_TFC8Dispatch16DispatchWorkItemD", "DispatchWorkItem.deinit"},
    {"_TF6Darwin5ioctlFTVs5Int32Su_S0_", "ioctl(_:_:)"},
    {"_TFSp10initializeuRd__s10CollectionxzWd__8Iterator7Element_rfT4fromqd___T_",
     "UnsafeMutablePointer.initialize(from:)"},
    {"_TFVs21RangeReplaceableSlice20_failEarlyRangeCheckfTGVs5Rangewx5Index_6boundsGS0_wxS1___T_",
     "RangeReplaceableSlice._failEarlyRangeCheck(_:bounds:)"},
    {"_TFCs17_AnyCollectionBox10_formIndexfTRPs12_AnyIndexBox_8offsetByVs5Int64_T_",
     "_AnyCollectionBox._formIndex(_:offsetBy:)"},
    {"_TFVs14LazyCollection12makeIteratorfT_wx8Iterator", "LazyCollection.makeIterator()"},
    {"_TFOs17FloatingPointSignCfT8rawValueSi_GSqS__", "FloatingPointSign.init(rawValue:)"},
    {"_TFOs18_VariantSetStorage8maybeGetfxGSqx_", "_VariantSetStorage.maybeGet(_:)"},
    {"_TTSfq4n_d___TZFVs4UTF810_decodeOnefVs6UInt32T6resultGSqS0__6lengthVs5UInt8_",
     "static UTF8._decodeOne(_:)"},
    {"_TF8Dispatch25dispatch_source_set_timerFTCSo14DispatchSourceVs6UInt64S1_S1__T_",
     "dispatch_source_set_timer(_:_:_:_:)"},
    {"_TFC11SentrySwift9Exception7isEqualfGSqP__Sb", "Exception.isEqual(_:)"},
    {"_TFCs30_AnyBidirectionalCollectionBox7_prefixfSiGS_x_",
     "_AnyBidirectionalCollectionBox._prefix(_:)"},
    {"_TFEsPs8Sequence7forEachfzFzWx8Iterator7Element_T_T_", "Sequence.forEach(_:)"},
    {"_TFE10FoundationCSo5NSSetCft12arrayLiteralGSaP___S0_", "NSSet.init(arrayLiteral:)"},
    {"_TFSq19_bridgeToObjectiveCfT_Ps9AnyObject_", "Optional._bridgeToObjectiveC()"},
    {"_TFVs13AnyCollection22_copyToContiguousArrayfT_GVs15ContiguousArrayx_",
     "AnyCollection._copyToContiguousArray()"},
    {"_TFV10Foundation3URL25removeCachedResourceValuefT6forKeyVSC14URLResourceKey_T_",
     "URL.removeCachedResourceValue(forKey:)"},
    {"_TFs12_roundUpImplFTSu11toAlignmentSi_Su", "_roundUpImpl(_:toAlignment:)"},
    {"_TFV10Foundation8IndexSet8containsfT10integersInS0__Sb", "IndexSet.contains(integersIn:)"},
    {"_TMfC11SentrySwift20CrashReportConverter", "full type metadata for CrashReportConverter"},
    {"_TToZFE11SentrySwiftCSo6NSDate11fromISO8601fSSGSqS0__", "static NSDate.fromISO8601(_:)"},
    {"_TFVs21_ClosureBasedIterator4nextfT_GSqx_", "_ClosureBasedIterator.next()"},
};

static const struct key_case own[] = {
    /* closures of closures, in whatever they stand */
    {"$s4Shop4FeedC6reload5forceySb_tF", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload5forceySb_tFyycfU_", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload5forceySb_tFyycfU0_yycfU_", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload5forceySb_tFyycfu_yycfu0_", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload5forceySb_tFfA_", "Feed.reload(force:)"},
    {"$s4Shop4FeedC5titleSSvgyycfU_", "Feed.title.getter"},
    {"$s4Shop4FeedC5titleSSvg", "Feed.title.getter"},
    {"$s4Shop4FeedC5titleSSvs", "Feed.title.setter"},
    {"$s4Shop4FeedC5titleSSvM", "Feed.title.modify"},
    {"$s4Shop4FeedC5titleSSvx", "Feed.title.modify"},
    {"$s4Shop4FeedC5titleSSvM.resume.0", "Feed.title.modify"},
    {"$s4Shop4FeedC5titleSSvxTwc", "Feed.title.modify"},
    {"$s4Shop4FeedC5titleSSvr", "Feed.title.read"},
    {"$s4Shop4FeedC5titleSSvy", "Feed.title.read"},
    {"$s4Shop4FeedC5titleSSvpfi", "Feed.title"},
    {"$s4Shop4FeedC5titleSSvpfiyycfU_", "Feed.title"},
    {"$s4Shop4FeedC5titleSSvpfP", "Feed.title"},
    {"$s4Shop4FeedC5titleSSvpMV", "Feed.title"},
    {"$s4Shop4FeedC5titleSSvpACTK", "Feed.title"},
    {"$s4Shop4FeedC6shared_WZ", "Feed.shared"},
    {"$s4Shop4FeedC6shared_Wz", "Feed.shared"},
    {"$s4Shop3one_WZ", "one"},
    {"$s4Shop3one_3two_WZ", "(one, two)"},
    /* labels and static stay, argument and result types go */
    {"$s4Shop4FeedC6reload5forceySS_tF", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload5forceSSSb_tKF", "Feed.reload(force:)"},
    {"$s4Shop4FeedC6reload4withySb_tF", "Feed.reload(with:)"},
    {"$s4Shop4FeedC6reloadyySbF", "Feed.reload(_:)"},
    {"$s4Shop4FeedC6reloadyyF", "Feed.reload()"},
    {"$s4Shop4FeedC6reloadyyFZ", "static Feed.reload()"},
    {"$s4Shop4FeedC6reload_5forceySb_SbtF", "Feed.reload(_:force:)"},
    /* generic arguments, signatures, modules and extensions go */
    {"$s4Core4FeedC6reloadyyF", "Feed.reload()"},
    {"$s4Shop4FeedC4CoreE6reloadyyF", "Feed.reload()"},
    {"$s4Shop4FeedCAAE6reloadyyF", "Feed.reload()"},
    {"$s4Shop4FeedC6reloadyyxlF", "Feed.reload(_:)"},
    {"$s4Shop4FeedC6reloadyyxSHRzlF", "Feed.reload(_:)"},
    {"$s4Shop3BoxVAASHRzlE3runyyF", "Box.run()"},
    {"$s4Shop3BoxV3runyyF", "Box.run()"},
    {"$sSa4ShopE3runyyF", "Array.run()"},
    {"$sSa4ShopSHRzlE3runyyF", "Array.run()"},
    {"$sSa4ShopSHRzlE3runyyFyycfU_", "Array.run()"},
    /* initialisers and deinitialisers */
    {"$s4Shop4FeedCACycfc", "Feed.init()"},
    {"$s4Shop4FeedCACycfC", "Feed.init()"},
    {"$s4Shop4FeedCACycfcTo", "Feed.init()"},
    {"$s4Shop4FeedC1xACSi_tcfc", "Feed.init(x:)"},
    {"$s4Shop4FeedC1xACSi_tcfC", "Feed.init(x:)"},
    {"$s4Shop4FeedCfd", "Feed.deinit"},
    {"$s4Shop4FeedCfD", "Feed.deinit"},
    {"$s4Shop4FeedCfZ", "Feed.deinit"},
    {"$s4Shop4FeedCfDTo", "Feed.deinit"},
    {"$s4Shop4FeedCfE", "Feed.__ivar_destroyer"},
    /* witnesses are methods of the conforming type, not of the protocol */
    {"$s4Shop4FeedCAA1PA2aDP3runyyFTW", "Feed.run()"},
    {"$s4Shop4HomeCAA1PA2aDP3runyyFTW", "Home.run()"},
    {"$s4Shop4FeedC3runyyF", "Feed.run()"},
    {"$s4Shop4FeedCAA1PA2aDP5titleSSvgTW", "Feed.title.getter"},
    {"$s4Shop4FeedCAA1PA2aDP4makeyyFZTW", "static Feed.make()"},
    {"$s4Shop4FeedCAA1PA2aDP3runyyYaFTWTQ0_", "Feed.run()"},
    {"$s4Shop1PP3runyyFTS", "P.run()"},
    {"$s4Shop1PP3runyyFTj", "P.run()"},
    {"$s4Shop1PPAAE3runyyF", "P.run()"},
    {"_TTWC4Shop4FeedS_1PS_FS1_3runfT_T_", "Feed.run()"},
    {"_TTWurGV4Shop3Boxx_S_1PS_FS1_3runfT_T_", "Box.run()"},
    {"$s4Shop4FeedC3runyyFAA4BaseCADyyFTV", "Feed.run()"},
    /* async parts */
    {"$s4Shop4FeedC3runyyYaF", "Feed.run()"},
    {"$s4Shop4FeedC3runyyYaFTu", "Feed.run()"},
    {"$s4Shop4FeedC3runyyYaFTQ0_", "Feed.run()"},
    {"$s4Shop4FeedC3runyyYaFTY1_", "Feed.run()"},
    {"$s4Shop4FeedC3runyyYaFyyYacfU_TATQ0_", "Feed.run()"},
    {"$s4Shop4FeedC3runyyYaFyyYacfU_TY2_", "Feed.run()"},
    /* what LLVM and the linker add */
    {"$s4Shop4FeedC3runyyFTm", "Feed.run()"},
    {"$s4Shop4FeedC3runyyF.cold.1", "Feed.run()"},
    {"$s4Shop4FeedC3runyyF.llvm.4711", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTf4d_n", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTf4d_nTm", "Feed.run()"},
    {"$s4Shop4FeedC3runyyxlFSi_Tg5", "Feed.run(_:)"},
    {"$s4Shop4FeedC3runyyxlFSi_Tg5Tf4d_n", "Feed.run(_:)"},
    {"$s4Shop4FeedC3runyyFTv_", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFToTembnn_", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTwb", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTwB", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTE", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFTX", "Feed.run()"},
    /* local declarations are functions of their own */
    {"$s4Shop3runyyF4stepL_yyF", "step #1 () in run()"},
    {"$s4Shop3runyyF4stepL_yyFyycfU_", "step #1 () in run()"},
    {"$s4Shop3runyyF4stepL0_yyF", "step #2 () in run()"},
    {"$s4Shop3runyyFyycfU_4stepL_yyF", "step #1 () in run()"},
    {"$s4Shop4walkyyF4stepL_yyF", "step #1 () in walk()"},
    {"$s4Shop3runyyF4StepL_V2goyyF", "go() in Step #1 in run()"},
    {"$s4Shop3runyyF4StepL_VADycfC", "init() in Step #1 in run()"},
    /* private declarations are the same in every build */
    {"$s4Shop4FeedC4step33_0123456789ABCDEF0123456789ABCDEFLLyyF", "Feed.step()"},
    {"$s4Shop4FeedC4step33_FEDCBA9876543210FEDCBA9876543210LLyyF", "Feed.step()"},
    /* the old scheme and the new one */
    {"_TFC4Shop4Feed3runfT_T_", "Feed.run()"},
    {"_TFFC4Shop4Feed3runFS0_FT_T_U_FT_T_", "Feed.run(_:)"},
    {"_TToFC4Shop4Feed3runfT_T_", "Feed.run()"},
    {"_TFC4Shop4FeedCfT_S0_", "Feed.init()"},
    {"_TFC4Shop4Feedg5titleSS", "Feed.title.getter"},
    {"_TPA__TFFC4Shop4Feed3runfT_T_U_FT_T_", "Feed.run()"},
    {"_TTSf4d___TFC4Shop4Feed3runfT_T_", "Feed.run()"},
    {"_TTSg5Si___TFC4Shop4Feed3runfT_T_", "Feed.run()"},
    {"_T04Shop4FeedC3runyyF", "Feed.run()"},
    {"$S4Shop4FeedC3runyyF", "Feed.run()"},
    {"__$s4Shop4FeedC3runyyF", "Feed.run()"},
    {"$e4Shop4FeedC3runyyF", "Feed.run()"},
    /* macros expand where they stand */
    {"$s4Shop4FeedC3runyyF9stringifyfMf_", "Feed.run()"},
    {"$s4Shop4FeedC5title7ObservefMa_", "Feed.title"},
    {"$s4Shop4FeedC5title7ObservefMp0_", "Feed.title"},
    /* derivatives */
    {"$s4Shop3runyS2fF", "run(_:)"},
    {"$s4Shop3runyS2fFTJfSpSr", "run(_:)"},
    {"$s4Shop3runyS2fFTJrSpSr", "run(_:)"},
    {"$s4Shop3runyS2fFWJrSpSr", "run(_:)"},
    /* operators and subscripts */
    {"$s4Shop4FeedC2eeoiySbAC_ACtFZ", "static Feed.==(_:_:)"},
    {"$s4Shop4FeedC1loiySbAC_ACtFZ", "static Feed.<(_:_:)"},
    {"$s4Shop4FeedC4safeSiSS_tcig", "Feed.subscript.getter"},
    {"$s4Shop4FeedCySiSScis", "Feed.subscript.setter"},
    /* what belongs to no function */
    {"$sIeg_ytIegr_TR", "reabstraction thunk"},
    {"$sIeg_ytIegr_TRTA", "reabstraction thunk"},
    {"$sxIegn_xIegi_lTR", "reabstraction thunk"},
    {"$sIeg_ytIegr_TRTQ0_", "reabstraction thunk"},
    {"_TTRXFo_oSS_dSi_XFo_oSS_iSi_", "reabstraction thunk"},
    {"$sTA", "partial apply"},
    {"$sTA.123", "partial apply"},
    {"$sSiWOe", "outlined value operation"},
    {"$sSiWOy", "outlined value operation"},
    {"$sSSSgWOh", "outlined value operation"},
    {"$sSiTH", "key path index operator"},
    {"$sIeyB_SSTz0_", "completion handler"},
    /* types */
    {"$s4Shop4FeedCMa", "type metadata accessor for Feed"},
    {"$s4Shop3BoxVySiGMa", "type metadata accessor for Box"},
    {"$sSaySiGD", "Array"},
    {"$sSiSgD", "Optional"},
    {"$s4Shop4FeedCwxx", "destroy for Feed"},
    {"$s4Shop4FeedCN", "type metadata for Feed"},
    /* top-level code is its module */
    {"$s4mainyycfU_", "main"},
};

static void check_key(const char *name, const char *want)
{
    char out[1024];
    ck_assert_msg(demangle_swift(name, SWIFT_KEY, out, sizeof(out)), "%s is no name", name);
    ck_assert_msg(!strcmp(out, want), "%s\n  want %s\n  got  %s", name, want, out);
}

START_TEST(real_names)
{
    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
        check_key(real[i].name, real[i].key);
}
END_TEST

START_TEST(own_names)
{
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        check_key(own[i].name, own[i].key);
}
END_TEST

/* Functions, each of another cluster. */
static const struct key_case functions[] = {
    {"$s4Shop3runyyF", "run()"},
    {"$s4Shop3runyySiF", "run(_:)"},
    {"$s4Shop3run1aySi_tF", "run(a:)"},
    {"$s4Shop3run1a1bySi_SStF", "run(a:b:)"},
    {"$s4Shop4walkyyF", "walk()"},
    {"$s4Shop4FeedC3runyyF", "Feed.run()"},
    {"$s4Shop4FeedC3runyyFZ", "static Feed.run()"},
    {"$s4Shop4HomeC3runyyF", "Home.run()"},
    {"$s4Shop4HomeC4ItemV3runyyF", "Home.Item.run()"},
    {"$s4Shop4FeedC5titleSSvg", "Feed.title.getter"},
    {"$s4Shop4FeedC5titleSSvs", "Feed.title.setter"},
    {"$s4Shop4FeedC5titleSSvM", "Feed.title.modify"},
    {"$s4Shop4FeedC5titleSSvW", "Feed.title.didset"},
    {"$s4Shop4FeedCACycfc", "Feed.init()"},
    {"$s4Shop4FeedC1xACSi_tcfc", "Feed.init(x:)"},
    {"$s4Shop4FeedCfd", "Feed.deinit"},
    {"$s4Shop4FeedCySiSScig", "Feed.subscript.getter"},
    {"$s4Shop4FeedC2eeoiySbAC_ACtFZ", "static Feed.==(_:_:)"},
    {"$s4Shop3runyyF4stepL_yyF", "step #1 () in run()"},
    {"$s4Shop3BoxVAASHRzlE3runyyF", "Box.run()"},
};

/* What compilers add to a function's name. */
static const char *const endings[] = {
    "",
    "yycfU_",
    "yycfU0_",
    "yycfU_yycfU_",
    "yycfu_",
    "yycfU_TA",
    "Tm",
    "To",
    "TD",
    "Tc",
    "Tj",
    "Tq",
    "Tu",
    "TQ0_",
    "TQ12_",
    "TY1_",
    "yycfU_TQ0_",
    "Tf4d_n",
    "Tf4nd_n",
    "Tf4d_nTm",
    "Tf4d_nTA",
    "Si_Tg5",
    "Si_Tg5Tf4d_n",
    "Si_TG5",
    "Si_Tp5",
    "Tv_",
    "TwB",
    "Twb",
    "TX",
    "TI",
    ".cold.1",
    ".resume.0",
    ".llvm.1234567",
    "Tm.llvm.1",
    "yycfU_TA.12",
    "fA_",
};

START_TEST(what_the_compiler_makes_of_a_function_is_the_function)
{
    size_t checked = 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]); k++) {
            char name[256];
            char out[256];
            snprintf(name, sizeof(name), "%s%s", functions[i].name, endings[k]);
            if (!demangle_swift(name, SWIFT_KEY, out, sizeof(out)))
                continue; /* not every ending goes with everything */
            ck_assert_msg(!strcmp(out, functions[i].key), "%s\n  want %s\n  got  %s", name,
                          functions[i].key, out);
            checked++;
        }
    }
    ck_assert_uint_gt(checked, sizeof(functions) / sizeof(functions[0]) * 30);
}
END_TEST

START_TEST(different_functions_stay_apart)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(functions[i].key, functions[k].key);
    }
}
END_TEST

START_TEST(a_key_is_never_empty)
{
    static const char *const names[] = {"$s4Shop", "$sSo", "$s4ShopMXM", "$syQP", "$s4Shop3abcMXY"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char out[256];
        demangle_swift(names[i], SWIFT_KEY, out, sizeof(out));
        ck_assert_msg(out[0] != 0, "%s", names[i]);
    }
}
END_TEST

UNIT_MAIN("demangle_swift_key", real_names, own_names,
          what_the_compiler_makes_of_a_function_is_the_function, different_functions_stay_apart,
          a_key_is_never_empty)
