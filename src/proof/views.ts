import { z } from 'zod'
import { count, id, text } from '../contract/fields.ts'

const verifierKey = (description: string) =>
  text(description, 'tracebook.invalid/log+9b2f8a11+AZ0fN3v3x0cR0c0m3S1y9Qm7c1bq4rM7l2iJm7z0q8Wc')

const hashes = (description: string) => z.array(z.string()).meta({ description })

export const LogKey = z.object({
  origin: text('The name of the log, as its checkpoints say', 'tracebook.invalid/log'),
  logId: id('the log, which stays the same under another name or key'),
  key: verifierKey('The key that signs now, in the form `<name>+<hash>+<base64>`'),
  keys: z
    .array(
      z.object({
        key: verifierKey('The key'),
        from: count('The size of the first checkpoint that it signed'),
        to: count('The size of the last checkpoint that it signed'),
      }),
    )
    .meta({ description: 'All keys that have signed checkpoints, the newest first' }),
})

export const Consistency = z.object({
  from: count('The size of the older tree'),
  to: count('The size of the newer tree'),
  proof: hashes('The consistency proof: hashes in base64'),
})

export const EventProof = z.object({
  entry: text('The event as it is in the tree: the JSON of `[id, stream, type, metadata, data]`, all of them texts'),
  index: z.int().meta({ description: 'The number of its leaf, from 0', examples: [12] }),
  size: z.int().meta({ description: 'The size of the tree of the checkpoint', examples: [345] }),
  proof: hashes('The inclusion proof: hashes in base64, from the leaf upwards'),
  checkpoint: text('The signed checkpoint that the proof leads to'),
})
