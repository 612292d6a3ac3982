import fc from 'fast-check'
import type { Schema } from './document.ts'

type Json = fc.Arbitrary<unknown>

/** A placeholder for JSON text that `JSON.stringify` never writes; `textOf` replaces it. */
const raw = (text: string) => ({ toJSON: () => `\u2045${text}\u2046` })

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Hostile values. */
const hostile: Json = fc.constantFrom<unknown>(
  null,
  '',
  'NUL \0 inside',
  'half \ud83d of one',
  '\udc00',
  '__proto__',
  'constructor',
  "'; drop table tracebook.events; --",
  '../../etc/passwd',
  'x'.repeat(5_000),
  raw('1e400'),
  raw('-1e400'),
  raw('123456789012345678901234567890'),
  raw('-0'),
  raw('1e-400'),
  raw('0.1'),
  raw('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}'),
  raw('{"a":1,"a":2}'),
  raw(nested(400)),
  raw(nested(3_000)),
  [],
  {},
  true,
)

const strings: Json = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('admin', 'team', 'trace', 'a@b.org', 'x'.repeat(1_025)),
)

type Schemas = Readonly<Record<string, Schema>>

const resolved = (schema: Schema, schemas: Schemas): Schema => {
  const name = /^#\/components\/schemas\/(\w+)$/.exec(String(schema.$ref ?? ''))?.[1]
  return name === undefined ? schema : schemas[name]!
}

const objects = (schema: Schema, schemas: Schemas, depth: number): Json => {
  const properties = Object.entries((schema.properties ?? {}) as Schemas)
  const required = (schema.required ?? []) as string[]
  const model = Object.fromEntries(properties.map(([name, one]) => [name, valueOf(one, schemas, depth + 1)]))
  const least = fc.record(Object.fromEntries(Object.entries(model).filter(([name]) => required.includes(name))))
  const known = fc.oneof(least, fc.record(model, { requiredKeys: required }))
  return properties.length > 0 ? known : fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }))
}

/** Values that a schema allows, or almost. */
const valueOf = (given: Schema, schemas: Schemas, depth = 0): Json => {
  const schema = resolved(given, schemas)
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (depth > 6) return fc.constant(null)
  if (choices) return fc.oneof(...choices.map((one) => valueOf(one, schemas, depth + 1)))
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...(schema.enum as unknown[]))
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'string':
      return strings
    case 'integer':
      return fc.integer()
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueOf((schema.items ?? {}) as Schema, schemas, depth + 1), { minLength: 1, maxLength: 3 })
    case 'object':
      return objects(schema, schemas, depth)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

/** The same value with one part, chosen by `path`, replaced. */
const spoiled = (value: unknown, path: readonly number[], by: unknown): unknown => {
  const [step, ...rest] = path
  if (typeof value !== 'object' || value === null || step === undefined) return by
  const keys = Object.keys(value)
  const key = keys[step % (keys.length + 1)]
  if (key === undefined) return by
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>
  copy[key] = spoiled(copy[key], rest, by)
  return copy
}

const textOf = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replaceAll(/"\u2045((?:[^"\\]|\\.)*)\u2046"/g, (_, text: string) => JSON.parse(`"${text}"`)) // prettier-ignore

/** JSON texts for a body: good ones, and ones with something hostile somewhere. */
export const bodies = (schema: Schema, schemas: Schemas): fc.Arbitrary<string> => {
  const good = valueOf(schema, schemas)
  const path = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 4 })
  const bad = fc.tuple(good, path, hostile).map(([value, at, by]) => spoiled(value, at, by))
  return fc.oneof({ arbitrary: good, weight: 4 }, { arbitrary: bad, weight: 3 }, hostile).map(textOf)
}

/** Values of a parameter, percent-encoded; most often an existing one. */
export const parameterTexts = (known: string): fc.Arbitrary<string> =>
  fc.oneof(
    { arbitrary: fc.constant(known), weight: 4 },
    fc.constantFrom('%00', '%ED%A0%80', '%', '..', '__proto__', 'x'.repeat(1_025), '-1', '1e9', '99999999999999999999'),
    fc.string({ minLength: 1, maxLength: 12 }).map(encodeURIComponent),
  )

const uuid = '00000000-0000-4000-8000-000000000000'

/** Values for a sort key of a cursor. */
const keys = fc.oneof(
  fc.constantFrom<unknown>(uuid, `${uuid}/0`, 0, -1, null, raw('9007199254740993'), raw('1e300'), raw('99999999999')),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  hostile,
)

const toCursor = (list: readonly unknown[]) => Buffer.from(textOf(list)).toString('base64url')

/** Cursors: valid ones, some with invalid keys, and texts that are not cursors. */
export const cursors: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(keys, fc.constant(uuid)).map(toCursor),
  fc.tuple(keys, keys).map(toCursor),
  fc.tuple(keys, keys, keys, fc.constant(`${uuid}/0`)).map(toCursor),
  fc.tuple(keys, keys, keys, fc.constant(`${uuid}/0`), keys).map(toCursor),
  fc.array(keys, { maxLength: 5 }).map(toCursor),
  fc.constantFrom('', 'x', '%00', 'W10', 'bnVsbA'),
)

/** Values of `limit`: digits, many of them, and none. */
export const limits = fc.constantFrom(
  '0',
  '1',
  '1000',
  '1001',
  '9'.repeat(400),
  '-1',
  '1.5',
  '1e3',
  '%D9%A1',
  '',
  '+1',
  'NaN',
)
