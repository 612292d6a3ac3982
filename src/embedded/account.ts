import { stat } from 'node:fs/promises'
import type { Log } from './log.ts'
import { type Account, run } from './run-program.ts'

const ownerOf = async (folder: string): Promise<Account | undefined> => {
  const found = await stat(folder).catch(() => undefined)
  return found && { uid: found.uid, gid: found.gid }
}

const lookUp = async (name: string): Promise<Account | undefined> => {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined
}

const unprivileged = async (): Promise<Account> => {
  for (const name of ['postgres', 'nobody']) {
    const account = await lookUp(name)
    if (account && account.uid !== 0) return account
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as: ' +
      'create one (useradd --system postgres), start Tracebook as another user, or set DATABASE_URL',
  )
}

/**
 * The user PostgreSQL has to run as; undefined means: as ourselves.
 * It refuses to be root, so root runs it as the owner of the cluster, else as `postgres`, else as `nobody`.
 * @throws Error when the cluster belongs to somebody else, or root finds no such user
 */
export const chooseAccount = async (cluster: string, log: Log): Promise<Account | undefined> => {
  const self = process.getuid?.()
  const owner = await ownerOf(cluster)
  if (self !== 0) {
    if (!owner || owner.uid === self) return undefined
    throw new Error(
      `${cluster} belongs to user ${owner.uid}, and this is user ${self}: ` +
        'start Tracebook as that user or as root, choose another DATA_DIR, or set DATABASE_URL',
    )
  }
  const account = owner && owner.uid !== 0 ? owner : await unprivileged()
  log.info({ ...account }, `running as root: PostgreSQL runs as user ${account.uid}`)
  return account
}
