import type { FastifyReply } from 'fastify'
import type { ProofSettings } from './settings.ts'

/** What never changes, such as a full tile, may be kept for as long as a cache likes. */
export const FOR_EVER = 'max-age=31536000, immutable'

/** Who may read the tree, and what caches may keep of it: with `AUDIT_PUBLIC` everybody, else those with a session. */
export const newTreeAccess = ({ AUDIT_PUBLIC }: Pick<ProofSettings, 'AUDIT_PUBLIC'>) => {
  const isPublic = AUDIT_PUBLIC === 'on'
  return {
    auth: isPublic ? ('none' as const) : ('required' as const),
    /** A refusal is not to be kept: the tree grows. */
    keepNothing: (reply: FastifyReply) => reply.header('cache-control', 'no-store'),
    keep: (reply: FastifyReply, how: string) =>
      reply.header('cache-control', `${isPublic ? 'public' : 'private'}, ${how}`),
  }
}
