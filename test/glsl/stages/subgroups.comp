#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_subgroup_uniform_control_flow : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uvec4 a; vec4 f; int i; bool b; } buf[2];
void main()
[[subgroup_uniform_control_flow]]
{
  uint lane = gl_SubgroupInvocationID + gl_SubgroupSize + gl_NumSubgroups + gl_SubgroupID;
  uvec4 ballot = subgroupBallot(lane > 3u) & gl_SubgroupLtMask;
  if (subgroupElect() && subgroupAll(lane > 1u) || subgroupAny(lane == 2u)) buf[0].b = subgroupAllEqual(buf[0].f);
  buf[0].a = subgroupAdd(ballot) + subgroupInclusiveMax(ballot) + subgroupExclusiveXor(ballot) + subgroupClusteredMin(ballot, 4u);
  buf[0].f = subgroupMul(buf[0].f) + subgroupBroadcast(buf[0].f, 3u) + subgroupShuffleXor(buf[0].f, lane);
  buf[1].i = subgroupMin(buf[0].i) + subgroupBroadcastFirst(buf[0].i) + subgroupShuffleUp(buf[0].i, 1u);
  buf[1].b = subgroupAnd(buf[0].b) && subgroupInverseBallot(ballot) && subgroupBallotBitExtract(ballot, lane);
  buf[1].a.x = subgroupBallotBitCount(ballot) + subgroupBallotExclusiveBitCount(ballot) + subgroupBallotFindMSB(ballot);
  buf[1].f = subgroupQuadSwapHorizontal(buf[1].f) + subgroupQuadSwapDiagonal(buf[0].f) + subgroupQuadBroadcast(buf[0].f, 2u);
  subgroupBarrier();
  subgroupMemoryBarrierShared();
}
