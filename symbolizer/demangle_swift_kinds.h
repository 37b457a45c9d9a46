/*
 * demangle_swift_kinds - the node kinds of a Swift mangled name, one row each.
 *
 * Purpose: a row says what a kind is called in the ABI document, which classes it belongs to (what
 * the parser may take it for) and how it is printed. A kind with a NULL text has a function of its
 * own in demangle_swift_print*.c.
 *
 * The text is copied out with these marks replaced:
 *     %0 %1 %2 %3   the child with that number
 *     %*            all children, nothing between them
 *     %,  %&  %.    all children with ", ", " & " or "." between them
 *     %t  %i  %u    the node's own text, its number, its number without sign
 *
 * Threads: constants.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_KINDS_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_KINDS_H

/* Classes a kind can belong to. */
enum swift_class {
    SC_CONTEXT = 1 << 0,     /* other entities can live in it */
    SC_DECL_NAME = 1 << 1,   /* names a declaration */
    SC_NOMINAL = 1 << 2,     /* a type that may take generic arguments */
    SC_REQUIREMENT = 1 << 3, /* a clause of a generic signature */
    SC_ATTRIBUTE = 1 << 4,   /* says something about the function that the rest of the name names */
    SC_SIMPLE = 1 << 5,      /* a type that needs no parentheses before '?' or '.Type' */
    SC_CONFORMANCE = 1 << 6, /* a protocol conformance argument */
    SC_DEPENDENT = 1 << 7,   /* of those, one that depends on a generic parameter */
    SC_EXPANSION = 1 << 8,   /* a macro expansion that others can be nested in */
    SC_QUIET = 1 << 9,       /* printed in the full form only */
    SC_FUNCTION_TYPE = 1 << 10
};

/* clang-format off */
#define SWIFT_KINDS(X)                                                                             \
    /* Names */                                                                                    \
    X(Module,                        SC_CONTEXT | SC_SIMPLE | SC_QUIET, "%t")                      \
    X(Identifier,                    SC_DECL_NAME, "%t")                                           \
    X(LocalDeclName,                 SC_DECL_NAME, NULL)                                           \
    X(PrivateDeclName,               SC_DECL_NAME, NULL)                                           \
    X(RelatedEntityDeclName,         SC_DECL_NAME, NULL)                                           \
    X(PrefixOperator,                SC_DECL_NAME, NULL)                                           \
    X(PostfixOperator,               SC_DECL_NAME, NULL)                                           \
    X(InfixOperator,                 SC_DECL_NAME, NULL)                                           \
    X(Index,                         0, "%i")                                                      \
    X(UnknownIndex,                  0, "unknown index")                                           \
    X(Number,                        0, "%i")                                                      \
    X(Suffix,                        SC_QUIET, NULL)                                               \
    X(Global,                        0, "%*")                                                      \
    /* Contexts and entities */                                                                    \
    X(AnonymousContext,              SC_CONTEXT, NULL)                                             \
    X(Extension,                     SC_CONTEXT, NULL)                                             \
    X(Static,                        SC_CONTEXT, "static %0")                                      \
    X(Function,                      SC_CONTEXT, NULL)                                             \
    X(Variable,                      SC_CONTEXT, NULL)                                             \
    X(Subscript,                     SC_CONTEXT, NULL)                                             \
    X(ExplicitClosure,               SC_CONTEXT, NULL)                                             \
    X(ImplicitClosure,               SC_CONTEXT, NULL)                                             \
    X(Allocator,                     SC_CONTEXT, NULL)                                             \
    X(Constructor,                   SC_CONTEXT, NULL)                                             \
    X(Destructor,                    SC_CONTEXT, NULL)                                             \
    X(Deallocator,                   SC_CONTEXT, NULL)                                             \
    X(IsolatedDeallocator,           SC_CONTEXT, NULL)                                             \
    X(IVarInitializer,               SC_CONTEXT, NULL)                                             \
    X(IVarDestroyer,                 SC_CONTEXT, NULL)                                             \
    X(Initializer,                   SC_CONTEXT, NULL)                                             \
    X(DefaultArgumentInitializer,    SC_CONTEXT, NULL)                                             \
    X(PropertyWrapperBackingInitializer,     SC_CONTEXT, NULL)                                     \
    X(PropertyWrapperInitFromProjectedValue, SC_CONTEXT, NULL)                                     \
    X(PropertyWrappedFieldInitAccessor,      SC_CONTEXT, NULL)                                     \
    X(GenericTypeParamDecl,          0, NULL)                                                      \
    X(Macro,                         0, NULL)                                                      \
    /* Accessors */                                                                                \
    X(Getter,                        SC_CONTEXT, NULL)                                             \
    X(GlobalGetter,                  SC_CONTEXT, NULL)                                             \
    X(Setter,                        SC_CONTEXT, NULL)                                             \
    X(MaterializeForSet,             SC_CONTEXT, NULL)                                             \
    X(WillSet,                       SC_CONTEXT, NULL)                                             \
    X(DidSet,                        SC_CONTEXT, NULL)                                             \
    X(ReadAccessor,                  SC_CONTEXT, NULL)                                             \
    X(Read2Accessor,                 SC_CONTEXT, NULL)                                             \
    X(ModifyAccessor,                SC_CONTEXT, NULL)                                             \
    X(Modify2Accessor,               SC_CONTEXT, NULL)                                             \
    X(InitAccessor,                  SC_CONTEXT, NULL)                                             \
    X(BorrowAccessor,                SC_CONTEXT, NULL)                                             \
    X(MutateAccessor,                SC_CONTEXT, NULL)                                             \
    X(OwningAddressor,               SC_CONTEXT, NULL)                                             \
    X(OwningMutableAddressor,        SC_CONTEXT, NULL)                                             \
    X(NativeOwningAddressor,         SC_CONTEXT, NULL)                                             \
    X(NativeOwningMutableAddressor,  SC_CONTEXT, NULL)                                             \
    X(NativePinningAddressor,        SC_CONTEXT, NULL)                                             \
    X(NativePinningMutableAddressor, SC_CONTEXT, NULL)                                             \
    X(UnsafeAddressor,               SC_CONTEXT, NULL)                                             \
    X(UnsafeMutableAddressor,        SC_CONTEXT, NULL)                                             \
    /* Macro expansions */                                                                         \
    X(AccessorAttachedMacroExpansion,        SC_EXPANSION, NULL)                                   \
    X(MemberAttributeAttachedMacroExpansion, SC_EXPANSION, NULL)                                   \
    X(MemberAttachedMacroExpansion,          SC_EXPANSION, NULL)                                   \
    X(PeerAttachedMacroExpansion,            SC_EXPANSION, NULL)                                   \
    X(ConformanceAttachedMacroExpansion,     SC_EXPANSION, NULL)                                   \
    X(ExtensionAttachedMacroExpansion,       SC_EXPANSION, NULL)                                   \
    X(PreambleAttachedMacroExpansion,        0, NULL)                                              \
    X(BodyAttachedMacroExpansion,            0, NULL)                                              \
    X(FreestandingMacroExpansion,            SC_EXPANSION, NULL)                                   \
    X(MacroExpansionUniqueName,              0, NULL)                                              \
    X(MacroExpansionLoc,                     SC_EXPANSION, NULL)                                   \
    /* Nominal types */                                                                            \
    X(Class,                         SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(Structure,                     SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(Enum,                          SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(Protocol,                      SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(TypeAlias,                     SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(OtherNominalType,              SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, NULL)                    \
    X(BoundGenericClass,             SC_SIMPLE, NULL)                                              \
    X(BoundGenericStructure,         SC_SIMPLE, NULL)                                              \
    X(BoundGenericEnum,              SC_SIMPLE, NULL)                                              \
    X(BoundGenericProtocol,          SC_SIMPLE, NULL)                                              \
    X(BoundGenericTypeAlias,         SC_SIMPLE, NULL)                                              \
    X(BoundGenericOtherNominalType,  SC_SIMPLE, NULL)                                              \
    X(BoundGenericFunction,          SC_SIMPLE, NULL)                                              \
    /* Types */                                                                                    \
    X(Type,                          0, "%0")                                                      \
    X(TypeList,                      SC_SIMPLE, "%*")                                              \
    X(TypeMangling,                  0, NULL)                                                      \
    X(LabelList,                     SC_SIMPLE, "")                                                \
    X(BuiltinTypeName,               SC_SIMPLE, "%t")                                              \
    X(BuiltinTupleType,              SC_CONTEXT | SC_NOMINAL | SC_SIMPLE, "Builtin.TheTupleType")  \
    X(BuiltinFixedArray,             SC_SIMPLE, "Builtin.FixedArray<%0, %1>")                      \
    X(Integer,                       SC_SIMPLE, "%u")                                              \
    X(NegativeInteger,               SC_SIMPLE, "%i")                                              \
    X(Tuple,                         SC_SIMPLE, "(%,)")                                            \
    X(TupleElement,                  0, NULL)                                                      \
    X(TupleElementName,              SC_SIMPLE, "%t: ")                                            \
    X(VariadicMarker,                0, " variadic-marker ")                                       \
    X(Pack,                          SC_SIMPLE, "Pack{%,}")                                        \
    X(SILPackDirect,                 SC_SIMPLE, "@direct Pack{%,}")                                \
    X(SILPackIndirect,               SC_SIMPLE, "@indirect Pack{%,}")                              \
    X(PackExpansion,                 0, "repeat %0")                                               \
    X(PackElement,                   0, "/* level: %1 */ each %0")                                 \
    X(PackElementLevel,              0, "%i")                                                      \
    X(Metatype,                      SC_SIMPLE, NULL)                                              \
    X(ExistentialMetatype,           SC_SIMPLE, NULL)                                              \
    X(MetatypeRepresentation,        SC_SIMPLE, "%t")                                              \
    X(ProtocolList,                  0, NULL)                                                      \
    X(ProtocolListWithClass,         0, NULL)                                                      \
    X(ProtocolListWithAnyObject,     0, NULL)                                                      \
    X(ConstrainedExistential,        0, "any %0<%1>")                                              \
    X(ConstrainedExistentialRequirementList, SC_SIMPLE, "%,")                                      \
    X(ConstrainedExistentialSelf,    SC_SIMPLE, "Self")                                            \
    X(DynamicSelf,                   SC_SIMPLE, "Self")                                            \
    X(ErrorType,                     SC_SIMPLE, "<ERROR TYPE>")                                    \
    X(SILBoxType,                    SC_SIMPLE, "@box %0")                                         \
    X(SILBoxTypeWithLayout,          SC_SIMPLE, NULL)                                              \
    X(SILBoxLayout,                  0, NULL)                                                      \
    X(SILBoxMutableField,            0, "var %0")                                                  \
    X(SILBoxImmutableField,          0, "let %0")                                                  \
    X(Weak,                          0, "weak %0")                                                 \
    X(Unowned,                       0, "unowned %0")                                              \
    X(Unmanaged,                     0, "unowned(unsafe) %0")                                      \
    X(InOut,                         0, "inout %0")                                                \
    X(Isolated,                      0, "isolated %0")                                             \
    X(Sending,                       0, "sending %0")                                              \
    X(CompileTimeLiteral,            0, "_const %0")                                               \
    X(ConstValue,                    0, "@const %0")                                               \
    X(Shared,                        0, "__shared %0")                                             \
    X(Owned,                         0, "__owned %0")                                              \
    X(NoDerivative,                  0, "@noDerivative %0")                                        \
    X(SugaredOptional,               SC_SIMPLE, NULL)                                              \
    X(SugaredArray,                  SC_SIMPLE, "[%0]")                                            \
    X(SugaredInlineArray,            SC_SIMPLE, "[%0 x %1]")                                       \
    X(SugaredDictionary,             SC_SIMPLE, "[%0 : %1]")                                       \
    X(SugaredParen,                  SC_SIMPLE, "(%0)")                                            \
    X(OpaqueType,                    0, "%0.%1")                                                   \
    X(OpaqueReturnType,              0, "some")                                                    \
    X(OpaqueReturnTypeIndex,         0, "")                                                        \
    X(OpaqueReturnTypeOf,            SC_CONTEXT, "<<opaque return type of %*>>")                   \
    X(ExtendedExistentialTypeShape,  0, NULL)                                                      \
    /* Function types */                                                                           \
    X(FunctionType,                  SC_FUNCTION_TYPE, NULL)                                       \
    X(UncurriedFunctionType,         SC_FUNCTION_TYPE, NULL)                                       \
    X(NoEscapeFunctionType,          SC_FUNCTION_TYPE, NULL)                                       \
    X(AutoClosureType,               SC_FUNCTION_TYPE, NULL)                                       \
    X(EscapingAutoClosureType,       SC_FUNCTION_TYPE, NULL)                                       \
    X(ThinFunctionType,              SC_FUNCTION_TYPE, NULL)                                       \
    X(CFunctionPointer,              SC_FUNCTION_TYPE, NULL)                                       \
    X(ObjCBlock,                     SC_FUNCTION_TYPE, NULL)                                       \
    X(EscapingObjCBlock,             SC_FUNCTION_TYPE, NULL)                                       \
    X(ArgumentTuple,                 0, NULL)                                                      \
    X(ReturnType,                    SC_SIMPLE, "%*")                                              \
    X(ClangType,                     0, "%t")                                                      \
    X(AsyncAnnotation,               0, " async")                                                  \
    X(ThrowsAnnotation,              0, " throws")                                                 \
    X(TypedThrowsAnnotation,         0, " throws(%0)")                                             \
    X(ConcurrentFunctionType,        0, "@Sendable ")                                              \
    X(GlobalActorFunctionType,       0, "@%0 ")                                                    \
    X(IsolatedAnyFunctionType,       0, "@isolated(any) ")                                         \
    X(NonIsolatedCallerFunctionType, 0, "nonisolated(nonsending) ")                                \
    X(SendingResultFunctionType,     0, "sending ")                                                \
    X(DifferentiableFunctionType,    0, NULL)                                                      \
    /* Lowered (SIL) function types */                                                             \
    X(ImplFunctionType,              0, NULL)                                                      \
    X(ImplEscaping,                  0, "@escaping")                                               \
    X(ImplErasedIsolation,           0, "@isolated(any)")                                          \
    X(ImplDifferentiabilityKind,     0, NULL)                                                      \
    X(ImplConvention,                0, "%t")                                                      \
    X(ImplFunctionConvention,        0, NULL)                                                      \
    X(ImplFunctionConventionName,    0, "%t")                                                      \
    X(ImplCoroutineKind,             0, "@%t")                                                     \
    X(ImplFunctionAttribute,         0, "%t")                                                      \
    X(ImplSendingResult,             0, "sending")                                                 \
    X(ImplParameter,                 0, NULL)                                                      \
    X(ImplResult,                    0, NULL)                                                      \
    X(ImplYield,                     0, NULL)                                                      \
    X(ImplErrorResult,               0, NULL)                                                      \
    X(ImplParameterResultDifferentiability, 0, "%t")                                               \
    X(ImplParameterSending,          0, "sending ")                                                \
    X(ImplParameterIsolated,         0, "isolated ")                                               \
    X(ImplParameterImplicitLeading,  0, "sil_implicit_leading_param ")                             \
    X(ImplPatternSubstitutions,      0, "@substituted %0 for <%1>")                                \
    X(ImplInvocationSubstitutions,   0, "for <%0>")                                                \
    /* Generics */                                                                                 \
    X(DependentGenericType,          SC_SIMPLE, NULL)                                              \
    X(DependentGenericSignature,     0, NULL)                                                      \
    X(DependentPseudogenericSignature, 0, NULL)                                                    \
    X(DependentGenericParamCount,    0, NULL)                                                      \
    X(DependentGenericParamType,     SC_SIMPLE, NULL)                                              \
    X(DependentMemberType,           SC_SIMPLE, "%0.%1")                                           \
    X(DependentAssociatedTypeRef,    0, NULL)                                                      \
    X(AssociatedTypeRef,             SC_SIMPLE, "%0.%1")                                           \
    X(AssocTypePath,                 0, "%.")                                                      \
    X(DependentGenericParamPackMarker,  SC_REQUIREMENT, NULL)                                      \
    X(DependentGenericParamValueMarker, SC_REQUIREMENT, NULL)                                      \
    X(DependentGenericConformanceRequirement, SC_REQUIREMENT, "%0: %1")                            \
    X(DependentGenericInverseConformanceRequirement, SC_REQUIREMENT, NULL)                         \
    X(DependentGenericLayoutRequirement,    SC_REQUIREMENT, NULL)                                  \
    X(DependentGenericSameTypeRequirement,  SC_REQUIREMENT, "%0 == %1")                            \
    X(DependentGenericSameShapeRequirement, SC_REQUIREMENT, "%0.shape == %1.shape")                \
    /* Conformances */                                                                             \
    X(ProtocolConformance,           0, NULL)                                                      \
    X(ConcreteProtocolConformance,   SC_CONFORMANCE, NULL)                                         \
    X(PackProtocolConformance,       SC_CONFORMANCE, "pack protocol conformance %*")               \
    X(DependentProtocolConformanceRoot,       SC_CONFORMANCE | SC_DEPENDENT, NULL)                 \
    X(DependentProtocolConformanceInherited,  SC_CONFORMANCE | SC_DEPENDENT, NULL)                 \
    X(DependentProtocolConformanceAssociated, SC_CONFORMANCE | SC_DEPENDENT, NULL)                 \
    X(DependentProtocolConformanceOpaque,     SC_CONFORMANCE,                                      \
      "opaque result conformance %0 of %1")                                                        \
    X(DependentAssociatedConformance, 0, "dependent associated conformance %*")                    \
    X(AnyProtocolConformanceList,    0, NULL)                                                      \
    X(RetroactiveConformance,        0, NULL)                                                      \
    X(ProtocolConformanceRefInTypeModule, 0, "protocol conformance ref (type's module) %*")        \
    X(ProtocolConformanceRefInProtocolModule, 0,                                                   \
      "protocol conformance ref (protocol's module) %*")                                           \
    X(ProtocolConformanceRefInOtherModule, 0, "protocol conformance ref (retroactive) %*")         \
    /* Function attributes: they come before the entity they speak of */                           \
    X(ObjCAttribute,                 SC_ATTRIBUTE, "@objc ")                                       \
    X(NonObjCAttribute,              SC_ATTRIBUTE, "@nonobjc ")                                    \
    X(DynamicAttribute,              SC_ATTRIBUTE, "dynamic ")                                     \
    X(DirectMethodReferenceAttribute, SC_ATTRIBUTE, "super ")                                      \
    X(VTableAttribute,               SC_ATTRIBUTE, "override ")                                    \
    X(MergedFunction,                SC_ATTRIBUTE | SC_QUIET, "merged ")                           \
    X(DistributedThunk,              SC_ATTRIBUTE | SC_QUIET, "distributed thunk ")                \
    X(DistributedAccessor,           SC_ATTRIBUTE | SC_QUIET, "distributed accessor for ")         \
    X(AccessibleFunctionRecord,      SC_ATTRIBUTE | SC_QUIET,                                      \
      "accessible function runtime record for ")                                                   \
    X(DynamicallyReplaceableFunctionKey, SC_ATTRIBUTE | SC_QUIET,                                  \
      "dynamically replaceable key for ")                                                          \
    X(DynamicallyReplaceableFunctionImpl, SC_ATTRIBUTE | SC_QUIET,                                 \
      "dynamically replaceable thunk for ")                                                        \
    X(DynamicallyReplaceableFunctionVar, SC_ATTRIBUTE | SC_QUIET,                                  \
      "dynamically replaceable variable for ")                                                     \
    X(BackDeploymentThunk,           SC_ATTRIBUTE | SC_QUIET, "back deployment thunk for ")        \
    X(BackDeploymentFallback,        SC_ATTRIBUTE, "back deployment fallback for ")                \
    X(AsyncFunctionPointer,          SC_ATTRIBUTE, "async function pointer to ")                   \
    X(AsyncAwaitResumePartialFunction, SC_ATTRIBUTE | SC_QUIET,                                    \
      "(%0) await resume partial function for ")                                                   \
    X(AsyncSuspendResumePartialFunction, SC_ATTRIBUTE | SC_QUIET,                                  \
      "(%0) suspend resume partial function for ")                                                 \
    X(CoroFunctionPointer,           SC_ATTRIBUTE, "coro function pointer to ")                    \
    X(DefaultOverride,               SC_ATTRIBUTE, "default override of ")                         \
    X(HasSymbolQuery,                SC_ATTRIBUTE, "#_hasSymbol query for ")                       \
    X(PartialApplyForwarder,         SC_ATTRIBUTE, NULL)                                           \
    X(PartialApplyObjCForwarder,     SC_ATTRIBUTE, NULL)                                           \
    X(OutlinedVariable,              SC_ATTRIBUTE, "outlined variable #%i of ")                    \
    X(OutlinedReadOnlyObject,        SC_ATTRIBUTE, "outlined read-only object #%i of ")            \
    X(OutlinedBridgedMethod,         SC_ATTRIBUTE, "outlined bridged method (%t) of ")             \
    /* Specialisations */                                                                          \
    X(GenericSpecialization,         SC_ATTRIBUTE, NULL)                                           \
    X(GenericSpecializationPrespecialized,     SC_ATTRIBUTE, NULL)                                 \
    X(GenericSpecializationNotReAbstracted,    SC_ATTRIBUTE, NULL)                                 \
    X(GenericSpecializationInResilienceDomain, SC_ATTRIBUTE, NULL)                                 \
    X(GenericPartialSpecialization,  SC_ATTRIBUTE, NULL)                                           \
    X(GenericPartialSpecializationNotReAbstracted, SC_ATTRIBUTE, NULL)                             \
    X(InlinedGenericFunction,        SC_ATTRIBUTE, NULL)                                           \
    X(FunctionSignatureSpecialization, SC_ATTRIBUTE, NULL)                                         \
    X(GenericSpecializationParam,    0, NULL)                                                      \
    X(FunctionSignatureSpecializationParam,  0, NULL)                                              \
    X(FunctionSignatureSpecializationReturn, 0, NULL)                                              \
    X(FunctionSignatureSpecializationParamKind, 0, NULL)                                           \
    X(FunctionSignatureSpecializationParamPayload, 0, NULL)                                        \
    X(SpecializationPassID,          0, "%i")                                                      \
    X(IsSerialized,                  0, "serialized")                                              \
    X(AsyncRemoved,                  0, "async demotion of %0")                                    \
    X(RepresentationChanged,         0, "representation changed")                                  \
    X(DroppedArgument,               0, "param%i-removed")                                         \
    /* Thunks */                                                                                   \
    X(CurryThunk,                    0, "curry thunk of %0")                                       \
    X(SILThunkIdentity,              0, "identity thunk of %0")                                    \
    X(DispatchThunk,                 0, "dispatch thunk of %0")                                    \
    X(VTableThunk,                   0, "vtable thunk for %1 dispatching to %0")                   \
    X(ProtocolWitness,               0, "protocol witness for %1 in conformance %0")               \
    X(ProtocolSelfConformanceWitness, 0, "protocol self-conformance witness for %0")               \
    X(ReabstractionThunk,            0, NULL)                                                      \
    X(ReabstractionThunkHelper,      0, NULL)                                                      \
    X(ReabstractionThunkHelperWithSelf, 0, NULL)                                                   \
    X(ReabstractionThunkHelperWithGlobalActor, 0, "%0 with global actor constraint %1")            \
    X(ObjCAsyncCompletionHandlerImpl, 0, NULL)                                                     \
    X(PredefinedObjCAsyncCompletionHandlerImpl, 0, NULL)                                           \
    X(CoroutineContinuationPrototype, 0, "coroutine continuation prototype for %0")                \
    X(KeyPathGetterThunkHelper,      0, NULL)                                                      \
    X(KeyPathSetterThunkHelper,      0, NULL)                                                      \
    X(KeyPathUnappliedMethodThunkHelper, 0, NULL)                                                  \
    X(KeyPathAppliedMethodThunkHelper, 0, NULL)                                                    \
    X(KeyPathEqualsThunkHelper,      0, NULL)                                                      \
    X(KeyPathHashThunkHelper,        0, NULL)                                                      \
    /* Automatic differentiation */                                                                \
    X(AutoDiffFunction,              SC_CONTEXT, NULL)                                             \
    X(AutoDiffFunctionKind,          0, NULL)                                                      \
    X(AutoDiffDerivativeVTableThunk, 0, NULL)                                                      \
    X(AutoDiffSubsetParametersThunk, 0, NULL)                                                      \
    X(AutoDiffSelfReorderingReabstractionThunk, 0, NULL)                                           \
    X(DifferentiabilityWitness,      0, NULL)                                                      \
    X(IndexSubset,                   0, NULL)                                                      \
    /* Outlined value operations */                                                                \
    X(OutlinedCopy,                  0, NULL)                                                      \
    X(OutlinedConsume,               0, NULL)                                                      \
    X(OutlinedRetain,                0, "outlined retain of %0")                                   \
    X(OutlinedRelease,               0, "outlined release of %0")                                  \
    X(OutlinedInitializeWithTake,    0, "outlined init with take of %0")                           \
    X(OutlinedInitializeWithTakeNoValueWitness, 0, "outlined init with take of %0")                \
    X(OutlinedInitializeWithCopy,    0, "outlined init with copy of %0")                           \
    X(OutlinedInitializeWithCopyNoValueWitness, 0, "outlined init with copy of %0")                \
    X(OutlinedAssignWithTake,        0, "outlined assign with take of %0")                         \
    X(OutlinedAssignWithTakeNoValueWitness, 0, "outlined assign with take of %0")                  \
    X(OutlinedAssignWithCopy,        0, "outlined assign with copy of %0")                         \
    X(OutlinedAssignWithCopyNoValueWitness, 0, "outlined assign with copy of %0")                  \
    X(OutlinedDestroy,               0, "outlined destroy of %0")                                  \
    X(OutlinedDestroyNoValueWitness, 0, "outlined destroy of %0")                                  \
    X(OutlinedEnumGetTag,            0, "outlined enum get tag of %0")                             \
    X(OutlinedEnumTagStore,          0, "outlined enum tag store of %0")                           \
    X(OutlinedEnumProjectDataForLoad, 0, "outlined enum project data for load of %0")              \
    /* Witnesses and witness tables */                                                             \
    X(ValueWitness,                  0, NULL)                                                      \
    X(ValueWitnessTable,             0, "value witness table for %0")                              \
    X(EnumCase,                      0, "enum case for %0")                                        \
    X(FieldOffset,                   0, "%0field offset for %1")                                   \
    X(Directness,                    0, NULL)                                                      \
    X(ProtocolWitnessTable,          0, "protocol witness table for %0")                           \
    X(ProtocolWitnessTablePattern,   0, "protocol witness table pattern for %0")                   \
    X(GenericProtocolWitnessTable,   0, "generic protocol witness table for %0")                   \
    X(GenericProtocolWitnessTableInstantiationFunction, 0,                                         \
      "instantiation function for generic protocol witness table for %0")                          \
    X(ResilientProtocolWitnessTable, 0, "resilient protocol witness table for %0")                 \
    X(ProtocolSelfConformanceWitnessTable, 0,                                                      \
      "protocol self-conformance witness table for %0")                                            \
    X(ProtocolWitnessTableAccessor,  0, "protocol witness table accessor for %0")                  \
    X(LazyProtocolWitnessTableAccessor, 0,                                                         \
      "lazy protocol witness table accessor for type %0 and conformance %1")                       \
    X(LazyProtocolWitnessTableCacheVariable, 0,                                                    \
      "lazy protocol witness table cache variable for type %0 and conformance %1")                 \
    X(AssociatedTypeMetadataAccessor, 0, "associated type metadata accessor for %1 in %0")         \
    X(DefaultAssociatedTypeMetadataAccessor, 0,                                                    \
      "default associated type metadata accessor for %0")                                          \
    X(AssociatedTypeWitnessTableAccessor, 0,                                                       \
      "associated type witness table accessor for %1 : %2 in %0")                                  \
    X(BaseWitnessTableAccessor,      0, "base witness table accessor for %1 in %0")                \
    X(GlobalVariableOnceFunction,    0, "one-time initialization function for %1")                 \
    X(GlobalVariableOnceToken,       0, "one-time initialization token for %1")                    \
    X(GlobalVariableOnceDeclList,    0, NULL)                                                      \
    /* Metadata and descriptors */                                                                 \
    X(TypeMetadata,                  0, "type metadata for %0")                                    \
    X(FullTypeMetadata,              0, "full type metadata for %0")                               \
    X(Metaclass,                     0, "metaclass for %0")                                        \
    X(CanonicalSpecializedGenericMetaclass, 0, "specialized generic metaclass for %0")             \
    X(TypeMetadataAccessFunction,    0, "type metadata accessor for %0")                           \
    X(CanonicalSpecializedGenericTypeMetadataAccessFunction, 0,                                    \
      "canonical specialized generic type metadata accessor for %0")                               \
    X(CanonicalPrespecializedGenericTypeCachingOnceToken, 0,                                       \
      "flag for loading of canonical specialized generic type metadata for %0")                    \
    X(NoncanonicalSpecializedGenericTypeMetadata, 0,                                               \
      "noncanonical specialized generic type metadata for %0")                                     \
    X(NoncanonicalSpecializedGenericTypeMetadataCache, 0,                                          \
      "cache variable for noncanonical specialized generic type metadata for %0")                  \
    X(MetadataInstantiationCache,    0, "metadata instantiation cache for %0")                     \
    X(TypeMetadataInstantiationCache, 0, "type metadata instantiation cache for %0")               \
    X(TypeMetadataInstantiationFunction, 0, "type metadata instantiation function for %0")         \
    X(TypeMetadataSingletonInitializationCache, 0,                                                 \
      "type metadata singleton initialization cache for %0")                                       \
    X(TypeMetadataCompletionFunction, 0, "type metadata completion function for %0")               \
    X(TypeMetadataDemanglingCache,   0, "demangling cache variable for type metadata for %0")      \
    X(TypeMetadataLazyCache,         0, "lazy cache variable for type metadata for %0")            \
    X(GenericTypeMetadataPattern,    0, "generic type metadata pattern for %0")                    \
    X(ClassMetadataBaseOffset,       0, "class metadata base offset for %0")                       \
    X(MethodDescriptor,              0, "method descriptor for %0")                                \
    X(MethodLookupFunction,          0, "method lookup function for %0")                           \
    X(ObjCMetadataUpdateFunction,    0, "ObjC metadata update function for %0")                    \
    X(ObjCResilientClassStub,        0, "ObjC resilient class stub for %0")                        \
    X(FullObjCResilientClassStub,    0, "full ObjC resilient class stub for %0")                   \
    X(PropertyDescriptor,            0, "property descriptor for %0")                              \
    X(NominalTypeDescriptor,         0, "nominal type descriptor for %0")                          \
    X(NominalTypeDescriptorRecord,   0, "nominal type descriptor runtime record for %0")           \
    X(ProtocolDescriptor,            0, "protocol descriptor for %0")                              \
    X(ProtocolDescriptorRecord,      0, "protocol descriptor runtime record for %0")               \
    X(ProtocolRequirementsBaseDescriptor, 0, "protocol requirements base descriptor for %0")       \
    X(ProtocolSelfConformanceDescriptor, 0, "protocol self-conformance descriptor for %0")         \
    X(ProtocolConformanceDescriptor, 0, "protocol conformance descriptor for %0")                  \
    X(ProtocolConformanceDescriptorRecord, 0,                                                      \
      "protocol conformance descriptor runtime record for %0")                                     \
    X(AssociatedTypeDescriptor,      0, "associated type descriptor for %0")                       \
    X(AssociatedConformanceDescriptor, 0, "associated conformance descriptor for %0.%1: %2")       \
    X(DefaultAssociatedConformanceAccessor, 0,                                                     \
      "default associated conformance accessor for %0.%1: %2")                                     \
    X(BaseConformanceDescriptor,     0, "base conformance descriptor for %0: %1")                  \
    X(AssociatedTypeGenericParamRef, 0, "generic parameter reference for associated type %*")      \
    X(ModuleDescriptor,              0, "module descriptor %0")                                    \
    X(ExtensionDescriptor,           0, "extension descriptor %0")                                 \
    X(AnonymousDescriptor,           0, "anonymous descriptor %0")                                 \
    X(OpaqueTypeDescriptor,          0, "opaque type descriptor for %0")                           \
    X(OpaqueTypeDescriptorRecord,    0, "opaque type descriptor runtime record for %0")            \
    X(OpaqueTypeDescriptorAccessor,  0, "opaque type descriptor accessor for %0")                  \
    X(OpaqueTypeDescriptorAccessorImpl, 0, "opaque type descriptor accessor impl for %0")          \
    X(OpaqueTypeDescriptorAccessorKey, 0, "opaque type descriptor accessor key for %0")            \
    X(OpaqueTypeDescriptorAccessorVar, 0, "opaque type descriptor accessor var for %0")            \
    X(Uniquable,                     0, "uniquable %0")                                            \
    X(ReflectionMetadataBuiltinDescriptor, 0, "reflection metadata builtin descriptor %0")         \
    X(ReflectionMetadataFieldDescriptor, 0, "reflection metadata field descriptor %0")             \
    X(ReflectionMetadataAssocTypeDescriptor, 0,                                                    \
      "reflection metadata associated type descriptor %0")                                         \
    X(ReflectionMetadataSuperclassDescriptor, 0,                                                   \
      "reflection metadata superclass descriptor %0")                                              \
    /* Marks on the stack that are no part of a tree unless the name is odd */                     \
    X(EmptyList,                     0, " empty-list ")                                            \
    X(FirstElementMarker,            0, " first-element-marker ")
/* clang-format on */

enum swift_kind {
#define X(name, classes, text) SK_##name,
    SWIFT_KINDS(X)
#undef X
        SK_COUNT
};

#endif
