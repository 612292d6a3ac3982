import { BadNote, type Signer, type Verifier, fromBase64, openNote, signNote } from './note.ts'
import { HASH_BYTES, type TreeHead } from './tree.ts'

/** The content of a signed checkpoint (C2SP `tlog-checkpoint`): which log, how many leaves, and their root. */
export type Checkpoint = TreeHead & { readonly origin: string }

const textOf = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${root.toString('base64')}\n`

/** The checkpoint of a tree as a signed note. The origin is the name of the key. */
export const signCheckpoint = ({ size, root }: TreeHead, signer: Signer): string =>
  signNote(textOf({ origin: signer.name, size, root }), signer)

/** A checkpoint that this key has signed. Extension lines are ignored. @throws BadNote */
export const openCheckpoint = (note: string, verifier: Verifier): Checkpoint => {
  const [origin = '', size = '', encoded = '', ...rest] = openNote(note, verifier).slice(0, -1).split('\n')
  const root = fromBase64(encoded)
  const isWhole = origin !== '' && /^(0|[1-9]\d{0,15})$/.test(size) && Number.isSafeInteger(Number(size))
  if (!isWhole || root?.length !== HASH_BYTES || rest.includes(''))
    throw new BadNote('it is not a checkpoint: expected lines with an origin, a size and a root')
  return { origin, size: Number(size), root }
}
