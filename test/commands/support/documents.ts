import * as assert from 'uvu/assert'
import type { User } from './user.ts'

export type Document = { readonly type: string } & Readonly<Record<string, unknown>>

/** The documents of an output of --json, one a line. */
export const documentsIn = (out: string): readonly Document[] => {
  assert.ok(out === '' || out.endsWith('\n'), 'the last line has its end')
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Document)
}

/** The members of the documents of a type, as `--help` lists them; those with a `?` may be missing. */
type Shape = { readonly required: readonly string[]; readonly all: readonly string[] }

const DOCUMENT = /^ {2}\{"type":"([a-z]+)"(.*?)\}(?: |$)/gm
const MEMBER = /,"(\w+)"(\??)/g

/** The types of documents that a text of --help describes. */
export const documentedIn = (help: string): ReadonlyMap<string, Shape> =>
  new Map(
    [...help.matchAll(DOCUMENT)].map(([, type, rest]) => {
      const members = [...rest!.matchAll(MEMBER)]
      const required = members.filter(([, , mark]) => mark === '').map(([, name]) => name!)
      return [type!, { required, all: members.map(([, name]) => name!) }]
    }),
  )

/** Runs a command with --json, and checks that its documents are as its --help says. */
export const runJson = async (
  user: User,
  ...args: readonly string[]
): Promise<{ how: number | string; documents: readonly Document[] }> => {
  const { how, out, err } = await user.run(...args, '--json')
  assert.is(err, '', args.join(' '))
  const words = args.slice(0, args.findIndex((arg, i) => i > 0 && !/^[a-z]+$/.test(arg)) >>> 0)
  const known = documentedIn((await user.run(...words, '--help')).out)
  const documents = documentsIn(out)
  for (const { type, ...members } of documents) {
    const shape = known.get(type)
    assert.ok(shape, `${args.join(' ')}: --help says nothing of documents of the type ${type}`)
    const names = Object.keys(members)
    assert.equal(
      names.filter((name) => !shape!.all.includes(name)),
      [],
      `${args.join(' ')}: not documented`,
    )
    assert.equal(
      shape!.required.filter((name) => !names.includes(name)),
      [],
      `${args.join(' ')}: documented, but not there`,
    )
  }
  return { how, documents }
}
