/** Generated from the code tables by `npm run generate`: the codes of diagnostics, as Markdown. */
export const diagnosticTable = `| code | message |
| --- | --- |
| GLSL_BAD_CHARACTER | the character '…' starts no token |
| GLSL_BYTE_ORDER_MARK | the file starts with a byte-order mark, which GLSL does not know: save it as UTF-8 without one |
| GLSL_OPEN_COMMENT | the comment is not closed |
| GLSL_NO_VERSION | a shader for Vulkan starts with #version 140 or higher, or with 310 es or 320 es |
| GLSL_BAD_VERSION | #version takes a number and core, compatibility or es |
| GLSL_UNSUPPORTED_VERSION | version … is not for Vulkan |
| GLSL_VERSION_NOT_FIRST | #version must come before everything else |
| GLSL_BAD_DIRECTIVE | unknown directive #… |
| GLSL_ERROR_DIRECTIVE | #error … |
| GLSL_EXTRA_TOKENS | extra text after #… |
| GLSL_UNTERMINATED_IF | no #endif for this condition |
| GLSL_UNMATCHED_DIRECTIVE | #… without #if |
| GLSL_ELSE_AFTER_ELSE | #… after #else |
| GLSL_BAD_CONDITION | unexpected … in a preprocessor condition |
| GLSL_UNDEFINED_MACRO | '…' is not a macro, and ES conditions take nothing else |
| GLSL_DIVIDE_BY_ZERO | division by zero in a preprocessor condition |
| GLSL_BAD_MACRO_NAME | '…' cannot be defined as a macro |
| GLSL_NO_MACRO_NAME | #… needs the name of a macro |
| GLSL_BAD_MACRO_PARAMETERS | the parameters of macro '…' are not a list of names |
| GLSL_MACRO_SPACE | a space is missing behind the name of macro '…' |
| GLSL_COMMENT_CONTINUED | a backslash at the end of its line makes the next line part of this comment |
| GLSL_DUPLICATE_PARAMETER | macro parameter '…' is there twice |
| GLSL_MACRO_REDEFINED | macro '…' has another definition already |
| GLSL_MACRO_ARGUMENTS | macro '…' takes … arguments, not … |
| GLSL_MACRO_UNTERMINATED | the arguments of macro '…' have no closing parenthesis |
| GLSL_PASTE_AT_EDGE | ## needs a token on each side |
| GLSL_BAD_PASTE | '…' and '…' do not make one token |
| GLSL_PASTE_TOO_LONG | ## makes a token of more than … characters |
| GLSL_EXPANSION_TOO_LARGE | macros expand to more than … tokens |
| GLSL_BAD_EXTENSION | #extension takes a name, a colon and require, enable, warn or disable |
| GLSL_EXTENSION_ALL | #extension all takes warn or disable only |
| GLSL_UNKNOWN_EXTENSION | extension … is not supported |
| GLSL_EXTENSION_USED | … is of extension … |
| GLSL_NEEDS_EXTENSION | … needs #extension … |
| GLSL_NEEDS_VERSION | … needs version … |
| GLSL_BAD_LINE | #line takes a line number and a source number or name |
| GLSL_BAD_INCLUDE | #include takes a name in quotes or angle brackets |
| GLSL_INCLUDE_NOT_ENABLED | #include needs #extension GL_GOOGLE_include_directive |
| GLSL_INCLUDE_NOT_FOUND | include file '…' is not among the request's files |
| GLSL_INCLUDE_DEPTH | includes nest deeper than … at '…' |
| GLSL_INCLUDE_COUNT | more than … files are included, repeats counted |
| GLSL_INCLUDE_TEXT | the included files have more than … characters in all |
| GLSL_SYNTAX | expected …, found … |
| GLSL_RESERVED_WORD | '…' is a reserved word |
| GLSL_STRAY_BRACE | this '}' closes nothing: there is one too many before it |
| GLSL_NESTING | nesting is deeper than … |
| GLSL_BAD_NUMBER | '…' is no number |
| GLSL_LITERAL_TOO_LARGE | '…' does not fit into its type |
| GLSL_STRAY_SEMICOLON | a semicolon between declarations needs version 460 |
| GLSL_BLOCK_NOT_GLOBAL | block '…' is declared inside a function |
| GLSL_UNDECLARED | '…' is not declared |
| GLSL_UNDECLARED_NEAR | '…' is not declared; did you mean '…'? |
| GLSL_UNDECLARED_FUNCTION | no function is named '…' |
| GLSL_UNDECLARED_FUNCTION_NEAR | no function is named '…'; did you mean '…'? |
| GLSL_BUILTIN_STAGE | '…' exists in … shaders, and this is a … shader |
| GLSL_UNKNOWN_TYPE | '…' is no type |
| GLSL_UNKNOWN_TYPE_NEAR | '…' is no type; did you mean '…'? |
| GLSL_REDEFINED | '…' is declared twice |
| GLSL_RESERVED_PREFIX | '…' starts with gl_, which is reserved |
| GLSL_RESERVED_NAME | '…' contains two underscores in a row, which is reserved |
| GLSL_TYPE_AS_VALUE | '…' is a type, not a value |
| GLSL_FUNCTION_AS_VALUE | '…' is a function, not a value |
| GLSL_BLOCK_AS_VALUE | block '…' has no value of its own, only its members have |
| GLSL_NOT_IN_VULKAN | … does not exist in Vulkan |
| GLSL_NEEDS_RELAXED | '…' is of older GLSL and not in Vulkan: write …, or compile with --dialect relaxed |
| GLSL_UNSUPPORTED | … is not supported |
| GLSL_VOID_VARIABLE | only functions can be void |
| GLSL_BAD_CONVERSION | cannot convert … to … |
| GLSL_BAD_OPERANDS | operator … does not take … and … |
| GLSL_BAD_OPERAND | operator … does not take … |
| GLSL_CONDITION_TYPE | a condition must be bool, not … |
| GLSL_CONDITION_ASSIGNS | a condition must be bool, and this assigns …; did you mean '=='? |
| GLSL_CONDITIONAL_TYPES | the two results of ?: have types … and … |
| GLSL_NOT_ASSIGNABLE | cannot write here: … |
| GLSL_WRITEONLY | '…' is writeonly |
| GLSL_NOT_INDEXABLE | … cannot be indexed |
| GLSL_INDEX_MISSING | an index is missing |
| GLSL_INDEX_TYPE | an index must be int or uint, not … |
| GLSL_INDEX_RANGE | index … is out of range for size … |
| GLSL_UNSIZED_INDEX | an array without a size takes constant indices only |
| GLSL_UNSIZED_LENGTH | the array has no size yet |
| GLSL_UNSIZED_ASSIGN | an array without a size cannot be assigned |
| GLSL_SPEC_SIZED | an array sized by a specialisation constant cannot be … |
| GLSL_NO_LENGTH | … has no length |
| GLSL_NO_METHOD | there is no method '…' |
| GLSL_NO_MEMBER | … has no member '…' |
| GLSL_NO_MEMBER_NEAR | … has no member '…'; did you mean '…'? |
| GLSL_BAD_SWIZZLE | … has no components '…' |
| GLSL_STRAY_LIST | an initialiser list stands only behind the = of a declaration |
| GLSL_NEEDS_EARLY_TESTS | post_depth_coverage needs early_fragment_tests |
| GLSL_SHARED_MIX | shared variables stand either all in blocks or all outside of blocks |
| GLSL_BAD_ESCAPE | \\x in a text needs a hexadecimal digit behind it |
| GLSL_STRAY_TEXT | a text stands only as the format of debugPrintfEXT |
| GLSL_PRINT_FORMAT | debugPrintfEXT starts with a text in quotes |
| GLSL_PRINT_ARGUMENT | debugPrintfEXT prints numbers and vectors, not … |
| GLSL_REFERENCE_UNDEFINED | buffer reference '…' is declared, but its block is not |
| GLSL_BAD_LIST | an initialiser list cannot make … |
| GLSL_NO_CONSTRUCTOR | … has no constructor |
| GLSL_CONSTRUCTOR_EXTRA | too many arguments for the constructor of … |
| GLSL_CONSTRUCTOR_MISSING | the constructor of … needs … components, not … |
| GLSL_CONSTRUCTOR_COUNT | … takes … values, not … |
| GLSL_CONSTANT_TOO_LARGE | a constant has more than … components |
| GLSL_VALUE_TOO_LARGE | a value used whole has more than … components |
| GLSL_TOO_LONG | what is used here makes one SPIR-V instruction (…) of … words, and at most … fit |
| GLSL_NOT_A_FUNCTION | '…' is not a function |
| GLSL_NO_OVERLOAD | no overload of '…' takes (…) |
| GLSL_AMBIGUOUS_CALL | several overloads of '…' fit (…) equally well |
| GLSL_ATOMIC_MEMORY | '…' works on buffer and shared variables only |
| GLSL_SAMPLED_ARGUMENTS | … is made of a … and a … |
| GLSL_SAMPLED_PLACE | a sampler made of a texture and a sampler goes straight into a texture function |
| GLSL_NEEDS_TARGET | '…' needs the target environment … or later |
| GLSL_CLUSTER_SIZE | a cluster's size must be a constant power of two |
| GLSL_INTERPOLANT | '…' takes a fragment input, or an element of one |
| GLSL_CONSTANT_ARGUMENT | the … of '…' must be constant |
| GLSL_ARGUMENT_RANGE | the … of '…' must be from … to … |
| GLSL_ATOMIC_FORMAT | '…' works on images of format … only |
| GLSL_MEMORY_ORDER | the order of '…' cannot be: … |
| GLSL_ARGUMENT_QUALIFIER | the parameter must be '…' as its argument is |
| GLSL_WRONG_STAGE | '…' is for … shaders only |
| GLSL_DUPLICATE_QUALIFIER | qualifier '…' is there twice |
| GLSL_DEPRECATED | '…' is deprecated since version 130: write … |
| GLSL_DEFAULT_PRECISION | the default precisions are highp here; say so with precision statements for int and float |
| GLSL_STORAGE_CONFLICT | qualifiers '…' and '…' exclude each other |
| GLSL_QUALIFIER_MISPLACED | '…' does not go with … |
| GLSL_UNKNOWN_LAYOUT | there is no layout qualifier '…' |
| GLSL_NO_PRECISION | … has no default precision here; write precision mediump …; first, or a precision with the type |
| GLSL_PRECISION_TYPE | … has no precision; float, int and samplers have |
| GLSL_LAYOUT_VALUE | layout qualifier '…' needs a value |
| GLSL_LAYOUT_NO_VALUE | layout qualifier '…' takes no value |
| GLSL_LAYOUT_RANGE | layout qualifier '…' cannot be … |
| GLSL_LAYOUT_MISPLACED | layout qualifier '…' does not go with … |
| GLSL_NOT_CONSTANT_INTEGER | this must be a constant integer |
| GLSL_NOT_CONSTANT | the initialiser of '…' is not constant |
| GLSL_CONST_UNINITIALIZED | constant '…' has no value |
| GLSL_NO_INITIALIZER | … variables have no initialiser |
| GLSL_ARRAY_SIZE | an array's size must be a constant integer |
| GLSL_ARRAY_SIZE_RANGE | an array cannot have … elements |
| GLSL_EMPTY_STRUCT | a struct or block must have a member |
| GLSL_EMPTY_DECLARATION | the declaration declares nothing |
| GLSL_MEMBER_NAME | a member needs a name |
| GLSL_MEMBER_INITIALIZER | member '…' cannot have an initialiser |
| GLSL_UNSIZED_MEMBER | member '…' needs an array size |
| GLSL_UNSIZED_RETURN | a function cannot return an array without a size |
| GLSL_UNSIZED_PARAMETER | a parameter needs an array size |
| GLSL_UNSIZED_VARIABLE | an array needs a size or an initialiser in ES |
| GLSL_UNSIZED_BLOCKS | an array of blocks needs a size |
| GLSL_RUNTIME_ARRAY | only the last member of a buffer block may be an array without a size: '…' |
| GLSL_LOOSE_UNIFORM | uniform '…' must stand in a block |
| GLSL_LOOSE_BUFFER | buffer variable '…' must stand in a block |
| GLSL_NO_BINDING | '…' needs layout(binding = …) |
| GLSL_OPAQUE_STORAGE | … must be a uniform or a parameter |
| GLSL_OPAQUE_VALUE | … is no value |
| GLSL_NO_FORMAT | an image without a format must be writeonly, or #extension GL_EXT_shader_image_load_formatted is needed |
| GLSL_IMAGE_FORMAT | format … does not go with … |
| GLSL_NO_ATTACHMENT_INDEX | subpass input '…' needs layout(input_attachment_index = …) |
| GLSL_UNIFORM_STD430 | std430 is for buffer and push_constant blocks |
| GLSL_OFFSET_ALIGN | offset … is no multiple of … |
| GLSL_OFFSET_OVERLAP | offset … lies inside member '…' |
| GLSL_BLOCK_TOO_LARGE | '…' ends … bytes from the start of its block, which may have … |
| GLSL_TWO_PUSH_CONSTANTS | a shader has one push_constant block at most |
| GLSL_CONSTANT_ID | constant_id goes with a global const of scalar type |
| GLSL_REPEATED_ID | constant_id … is given to '…' already |
| GLSL_NO_LOCAL_SIZE | gl_WorkGroupSize is used before layout(local_size_x = …) in |
| GLSL_LOCAL_SIZE_LIMIT | local size … in … is over the limit of … |
| GLSL_LOCAL_SIZE_CHANGED | local size in … was … and cannot become … |
| GLSL_COMPUTE_INTERFACE | a compute shader has no … variables of its own |
| GLSL_NO_STAGE_BLOCKS | a … shader has no … blocks: declare each variable on its own |
| GLSL_BUILTIN_TYPE | '…' keeps its type, … |
| GLSL_NO_LOCATION | '…' needs layout(location = …) |
| GLSL_LOCATION_OVERLAP | location … is taken by '…' |
| GLSL_COMPONENT | component … does not go with … |
| GLSL_XFB_OVERLAP | offset … of capture buffer … is taken by '…' |
| GLSL_XFB_BUFFER | member '…' cannot go to capture buffer …: its block goes to … |
| GLSL_XFB_STRIDE_SIZE | the stride … of capture buffer … must be a multiple of … and at least … |
| GLSL_XFB_STRIDE | the stride of capture buffer … was … and cannot become … |
| GLSL_LATE_REDECLARATION | '…' is used before it is declared again |
| GLSL_DEPTH_LAYOUT | gl_FragDepth was … and cannot become … |
| GLSL_NEEDS_FLAT | a fragment input of type … must be flat |
| GLSL_INTERFACE_TYPE | … variables cannot be … |
| GLSL_ENTRY_SIGNATURE | entry point '…' must be void and take no parameters |
| GLSL_NO_ENTRY_POINT | there is no function '…' to start at |
| GLSL_NO_BODY | function '…' is declared but has no body |
| GLSL_RECURSION | '…' calls itself, which shaders cannot |
| GLSL_FUNCTION_MISMATCH | '…(…)' was declared with another return type or other qualifiers |
| GLSL_BUILTIN_REDEFINED | built-in function '…' cannot be declared again |
| GLSL_LOCAL_FUNCTION | function '…' is inside another function |
| GLSL_RETURN_MISSING | return needs a value of type … |
| GLSL_RETURN_CONVERSION | a return converts … to … since version 420 only |
| GLSL_NO_RETURN | function '…' has no return |
| GLSL_RETURN_VALUE | a void function returns no value |
| GLSL_STRAY_JUMP | … outside of anything it could leave |
| GLSL_STRAY_CASE | case label outside of a switch |
| GLSL_BEFORE_CASE | a statement in a switch needs a case label before it |
| GLSL_CASE_AT_END | the last label of a switch needs a statement behind it |
| GLSL_REPEATED_LABEL | the label '…' is there twice |
| GLSL_SWITCH_TYPE | switch takes int or uint, not … |
| GLSL_UNKNOWN_ATTRIBUTE | attribute '…' is not known and ignored |
| SPIRV_NOT_WORDS | … bytes are no whole number of 4-byte words |
| SPIRV_TRUNCATED_HEADER | module ends inside its header, after … of 5 words |
| SPIRV_BAD_MAGIC | first word is …, not the magic number 0x07230203 |
| SPIRV_BAD_VERSION | version word … is none of 1.0 to 1.6 |
| SPIRV_BAD_BOUND | id bound … is not in 1 to … |
| SPIRV_ZERO_LENGTH | instruction at word … has a word count of 0 |
| SPIRV_TRUNCATED | module ends inside … at word … |
| SPIRV_UNKNOWN_OP | opcode … at word … is not in the grammar |
| SPIRV_MISSING_OPERAND | … at word … ends before its operand … |
| SPIRV_EXTRA_OPERAND | … at word … has … words too many |
| SPIRV_BAD_ENUMERANT | … is no … in … at word … |
| SPIRV_UNTERMINATED_STRING | string of … at word … has no end |
| SPIRV_BAD_LITERAL_TYPE | literal of … at word … needs a known integer or float type, %… is none |
| SPIRV_ID_OUT_OF_BOUND | id … of … at word … is not in 1 to … exclusive |
| SPIRV_ID_REDEFINED | %… is defined again by … at word … |
| SPIRV_ID_UNDEFINED | %… of … at word … is not defined |
| SPIRV_ID_FORWARD | %… of … at word … is used before its definition |
| SPIRV_EMPTY | module has no instructions |
| SPIRV_LAYOUT | … at word …: … |
| SPIRV_TYPE | … at word …: … |
| SPIRV_CFG | … at word …: … |
| SPIRV_DECORATION | … at word …: … |
| SPIRV_NO_ENTRY_POINT | no … entry point is named …; the module has … |
| SPIRV_UNSUPPORTED | … is not supported, in … at word … |
| SPIRVASM_BAD_TOKEN | cannot read … here |
| SPIRVASM_EXPECTED | expected …, found … |
| SPIRVASM_UNKNOWN_OP | no instruction is named … |
| SPIRVASM_UNKNOWN_NAME | no … is named … |
| SPIRVASM_RESULT | … … |
| SPIRVASM_BAD_NUMBER | … is no … |
| SPIRVASM_TOO_LONG | … takes … words, at most 65535 fit |
| COMPILE_NO_STAGE | GLSL needs a stage: compute, vertex or fragment |
| COMPILE_PIPELINE | pipeline state: … |
| COMPILE_LAYOUT_MISSING | … uses set … binding …, which the pipeline layout does not have |
| COMPILE_LAYOUT_MISMATCH | … at set … binding … needs … …, the pipeline layout has … |
| COMPILE_SPEC_VALUE | specialisation constant … is a …, … is none |
| COMPILE_LINKED_STAGE | the … stage of the pipeline does not compile |
| LINK_STAGES | a pipeline of two stages has a vertex and a fragment stage |
| LINK_MISSING | … at location … component … is read here, and the vertex stage has no such output |
| LINK_TYPE | … at location … component … is …, and the vertex stage's … is … |
| LINK_OVERLAP | … and … of the … stage both take location … component … |
| COMPILE_WARNING_AS_ERROR | warnings are errors here |
| CORE_UNSUPPORTED | … is not supported |
| CORE_MALFORMED | the SPIR-V module is not valid: … |
| CORE_NO_ENTRY_POINT | the module has no … entry point … |
| CORE_LIMIT | the shader is too large: more than … … |
| CORE_LIMIT_TIME | the compile used up its time |
| CORE_OUT_OF_REGISTERS | the shader needs more than … … registers at once |
| CORE_INVALID_IR | after …: …: … (at …) |
| CORE_INVALID_MACHINE | in the back end: check … at … |`;
