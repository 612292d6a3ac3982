import { z } from 'zod'

/** RFC 6902, with a fixed vocabulary: whole values, at `/<field>` and `/parts/<i>` only. */
export const PatchOperation = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), path: z.string(), value: z.unknown() }),
  z.object({ op: z.literal('replace'), path: z.string(), value: z.unknown() }),
  z.object({ op: z.literal('remove'), path: z.string() }),
])
export type PatchOperation = z.infer<typeof PatchOperation>
