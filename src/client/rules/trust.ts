import { join } from 'node:path'
import { z } from 'zod'
import { nameOfServer } from '../login/credentials.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import { serverKey } from '../server-key.ts'
import type { RuleSource } from './rule.ts'

/** Strangers' rules to which the user has agreed. */
export type Trust = {
  /** Returns a function that says whether the user has agreed to a rule until now, also in another process. */
  readonly current: () => Promise<(source: RuleSource) => boolean>
  /** Remembers that the user agrees to a rule as its file is now. */
  readonly add: (source: RuleSource) => Promise<void>
}

const Agreed = z.strictObject({ server: z.string().transform(serverKey), anchor: z.string(), hash: z.string() })
const Stored = z.strictObject({ version: z.literal(1), agreed: z.array(Agreed) })

/** The file of the configuration folder that remembers them. */
const TRUSTED = 'trusted-rules.json'

const keyOf = ({ server, anchor, hash }: z.infer<typeof Agreed>): string => JSON.stringify([server, anchor, hash])

/** What the user has agreed to for one service: a file is known by the hash of its content, and by its repository. */
export const openTrust = (config: string, address: string): Trust => {
  const server = nameOfServer(config, address)
  const path = join(config, TRUSTED)
  const read = async () => Stored.safeParse(await readJson(path)).data?.agreed ?? []
  return {
    current: async () => {
      const known = new Set((await read()).map(keyOf))
      return ({ stranger }) => stranger !== undefined && known.has(keyOf({ server, ...stranger }))
    },
    add: async ({ stranger }) => {
      if (!stranger) return
      const one = { server, ...stranger }
      const others = (await read()).filter((other) => keyOf(other) !== keyOf(one))
      await writePrivateFile(path, `${JSON.stringify({ version: 1, agreed: [...others, one] }, null, 2)}\n`)
    },
  }
}
