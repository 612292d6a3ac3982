/** Two records of numbers with the same names, added name by name. */
export const addByName = <Name extends string>(
  one: Readonly<Record<Name, number>>,
  other: Readonly<Record<Name, number>>,
): Record<Name, number> => {
  const sums: Record<Name, number> = { ...one }
  for (const name in other) sums[name] += other[name]
  return sums
}
