import { maskKinds, valueKinds } from "./rows/enumerants.ts";
import { glslStd450Rows } from "./rows/glsl-std-450.ts";
import { instructionRows } from "./rows/instructions.ts";

type Row = readonly [number, string, ...(string | number)[]];
/** Name → number, with both as literal types: `Op.OpIAdd` has the type 128. */
type Numbers<Rows extends readonly Row[]> = { readonly [R in Rows[number] as R[1]]: R[0] };

function fromSecond<const Rows extends readonly Row[]>(rows: () => Rows): Numbers<Rows> {
  return Object.fromEntries(rows().map((row) => [row[1], row[0]])) as Numbers<Rows>;
}

/** Opcodes by their full names: `Op.OpIAdd`. */
export const Op = fromSecond(instructionRows);
/** Instruction numbers of the extended set `GLSL.std.450`. */
export const GlslStd450 = fromSecond(glslStd450Rows);

export const ImageOperands = fromSecond(maskKinds.ImageOperands);
export const FPFastMathMode = fromSecond(maskKinds.FPFastMathMode);
export const SelectionControl = fromSecond(maskKinds.SelectionControl);
export const LoopControl = fromSecond(maskKinds.LoopControl);
export const FunctionControl = fromSecond(maskKinds.FunctionControl);
export const MemorySemantics = fromSecond(maskKinds.MemorySemantics);
export const MemoryAccess = fromSecond(maskKinds.MemoryAccess);

export const SourceLanguage = fromSecond(valueKinds.SourceLanguage);
export const ExecutionModel = fromSecond(valueKinds.ExecutionModel);
export const AddressingModel = fromSecond(valueKinds.AddressingModel);
export const MemoryModel = fromSecond(valueKinds.MemoryModel);
export const ExecutionMode = fromSecond(valueKinds.ExecutionMode);
export const StorageClass = fromSecond(valueKinds.StorageClass);
export const Dim = fromSecond(valueKinds.Dim);
export const ImageFormat = fromSecond(valueKinds.ImageFormat);
export const Decoration = fromSecond(valueKinds.Decoration);
export const BuiltIn = fromSecond(valueKinds.BuiltIn);
export const Scope = fromSecond(valueKinds.Scope);
export const GroupOperation = fromSecond(valueKinds.GroupOperation);
export const Capability = fromSecond(valueKinds.Capability);
