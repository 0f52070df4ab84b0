/** Names that extensions bring without the ending of their vendor. */
const named: readonly (readonly [extension: RegExp, names: RegExp])[] = [
  [/_shader_atomic_float2?$/, /^(?:imageAtomic|atomic)/],
  [/_cooperative_matrix$/, /^coop[Mm]at/],
  [/_shader_image_int64$/, /^(?:imageAtomic|[iu]64image)/],
];

/** Whether an extension that this compiler lacks may bring the name: by its vendor's ending, or by what is known of it. */
export function mayBring(extension: string, name: string): boolean {
  const vendor = /^GL_([A-Z]+)_/.exec(extension)?.[1];
  if (vendor !== undefined && name.endsWith(vendor)) return true;
  return named.some(([extensions, names]) => extensions.test(extension) && names.test(name));
}
