/** How `#extension NAME : behaviour` stands for a name. */
export type Behavior = "require" | "enable" | "warn" | "disable";

export const behaviors: ReadonlySet<string> = new Set(["require", "enable", "warn", "disable"]);

/** Extensions that this front end has. Each defines its name as a macro of value 1, as the specification says. */
export const supportedExtensions: readonly string[] = [
  "GL_GOOGLE_include_directive",
  "GL_GOOGLE_cpp_style_line_directive",
  "GL_KHR_vulkan_glsl",
  "GL_ARB_compute_shader",
  "GL_ARB_separate_shader_objects",
  "GL_ARB_explicit_attrib_location",
  "GL_ARB_shading_language_420pack",
  "GL_ARB_shading_language_packing",
  "GL_ARB_shader_storage_buffer_object",
  "GL_ARB_uniform_buffer_object",
  "GL_ARB_enhanced_layouts",
  "GL_ARB_arrays_of_arrays",
  "GL_ARB_gpu_shader5",
  "GL_ARB_derivative_control",
  "GL_ARB_shader_bit_encoding",
  "GL_EXT_scalar_block_layout",
  "GL_EXT_control_flow_attributes",
  "GL_EXT_shader_io_blocks",
  "GL_EXT_shader_implicit_conversions",
  "GL_EXT_null_initializer",
];
