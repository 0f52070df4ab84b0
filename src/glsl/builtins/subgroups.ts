/**
 * Rows of the subgroup functions, in the form of `functions.ts`. The word behind `subgroup` is the instruction behind
 * `OpGroupNonUniform`, and after `_` its group operation. Source: GL_KHR_shader_subgroup.
 */
const wideKinds = [
  "genFType",
  "genDType",
  "genIType",
  "genUType",
  "genBType",
  "genF16Type",
  "genI8Type",
  "genI16Type",
  "genI64Type",
  "genU8Type",
  "genU16Type",
  "genU64Type",
];
const signed = new Set(["genIType", "genI8Type", "genI16Type", "genI64Type"]);
const real = new Set(["genFType", "genDType", "genF16Type"]);

const basic = "+GL_KHR_shader_subgroup_basic";

const fixed = `
void subgroupBarrier() = subgroupBarrier ${basic}
void subgroupMemoryBarrier() = subgroupMemoryBarrier ${basic}
void subgroupMemoryBarrierBuffer() = subgroupMemoryBarrierBuffer ${basic}
void subgroupMemoryBarrierShared() = subgroupMemoryBarrierShared @compute ${basic}
void subgroupMemoryBarrierImage() = subgroupMemoryBarrierImage ${basic}
bool subgroupElect() = subgroup Elect ${basic}
bool subgroupAll(bool) = subgroup All +GL_KHR_shader_subgroup_vote
bool subgroupAny(bool) = subgroup Any +GL_KHR_shader_subgroup_vote
uvec4 subgroupBallot(bool) = subgroup Ballot +GL_KHR_shader_subgroup_ballot
bool subgroupInverseBallot(uvec4) = subgroup InverseBallot +GL_KHR_shader_subgroup_ballot
bool subgroupBallotBitExtract(uvec4, uint) = subgroup BallotBitExtract +GL_KHR_shader_subgroup_ballot
uint subgroupBallotBitCount(uvec4) = subgroup BallotBitCount_Reduce +GL_KHR_shader_subgroup_ballot
uint subgroupBallotInclusiveBitCount(uvec4) = subgroup BallotBitCount_InclusiveScan +GL_KHR_shader_subgroup_ballot
uint subgroupBallotExclusiveBitCount(uvec4) = subgroup BallotBitCount_ExclusiveScan +GL_KHR_shader_subgroup_ballot
uint subgroupBallotFindLSB(uvec4) = subgroup BallotFindLSB +GL_KHR_shader_subgroup_ballot
uint subgroupBallotFindMSB(uvec4) = subgroup BallotFindMSB +GL_KHR_shader_subgroup_ballot`;

/** Arithmetic: name, instruction for reals, signed and unsigned integers, bools; empty where there is none. */
const operations: readonly (readonly [string, string, string, string, string])[] = [
  ["Add", "FAdd", "IAdd", "IAdd", ""],
  ["Mul", "FMul", "IMul", "IMul", ""],
  ["Min", "FMin", "SMin", "UMin", ""],
  ["Max", "FMax", "SMax", "UMax", ""],
  ["And", "", "BitwiseAnd", "BitwiseAnd", "LogicalAnd"],
  ["Or", "", "BitwiseOr", "BitwiseOr", "LogicalOr"],
  ["Xor", "", "BitwiseXor", "BitwiseXor", "LogicalXor"],
];

/** The rows, one a line. */
export function subgroupRows(): string {
  const rows = [fixed];
  const add = (kind: string, text: string, extension: string): void => {
    rows.push(`${text.replace(/\bT\b/g, kind)} +GL_KHR_shader_subgroup_${extension}`);
  };
  for (const kind of wideKinds) {
    add(kind, "bool subgroupAllEqual(T) = subgroup AllEqual", "vote");
    add(kind, "T subgroupBroadcast(T, uint) = subgroup Broadcast", "ballot");
    add(kind, "T subgroupBroadcastFirst(T) = subgroup BroadcastFirst", "ballot");
    add(kind, "T subgroupShuffle(T, uint) = subgroup Shuffle", "shuffle");
    add(kind, "T subgroupShuffleXor(T, uint) = subgroup ShuffleXor", "shuffle");
    add(kind, "T subgroupShuffleUp(T, uint) = subgroup ShuffleUp", "shuffle_relative");
    add(kind, "T subgroupShuffleDown(T, uint) = subgroup ShuffleDown", "shuffle_relative");
    add(kind, "T subgroupQuadBroadcast(T, uint) = subgroup QuadBroadcast", "quad");
    for (const [at, way] of ["Horizontal", "Vertical", "Diagonal"].entries()) {
      add(kind, `T subgroupQuadSwap${way}(T) = subgroup QuadSwap_${at}`, "quad");
    }
    const column = real.has(kind) ? 1 : signed.has(kind) ? 2 : kind === "genBType" ? 4 : 3;
    for (const operation of operations) {
      const instruction = operation[column];
      if (instruction === "") continue;
      const name = operation[0];
      add(kind, `T subgroup${name}(T) = subgroup ${instruction}_Reduce`, "arithmetic");
      add(kind, `T subgroupInclusive${name}(T) = subgroup ${instruction}_InclusiveScan`, "arithmetic");
      add(kind, `T subgroupExclusive${name}(T) = subgroup ${instruction}_ExclusiveScan`, "arithmetic");
      add(kind, `T subgroupClustered${name}(T, uint) = subgroup ${instruction}_ClusteredReduce`, "clustered");
    }
  }
  return rows.join("\n");
}
