import type { FastifyReply } from 'fastify'
import type { ProofSettings } from './settings.ts'

/** For content that never changes, such as a full tile. */
export const FOR_EVER = 'max-age=31536000, immutable'

/** Who may read the tree, and what caches may keep: with `AUDIT_PUBLIC` everybody, otherwise callers with a session. */
export const newTreeAccess = ({ AUDIT_PUBLIC }: Pick<ProofSettings, 'AUDIT_PUBLIC'>) => {
  const isPublic = AUDIT_PUBLIC === 'on'
  return {
    auth: isPublic ? ('none' as const) : ('required' as const),
    /** Refusals must not be cached, because the tree grows. */
    keepNothing: (reply: FastifyReply) => reply.header('cache-control', 'no-store'),
    keep: (reply: FastifyReply, how: string) =>
      reply.header('cache-control', `${isPublic ? 'public' : 'private'}, ${how}`),
  }
}
