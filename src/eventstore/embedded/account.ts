import { stat } from 'node:fs/promises'
import type { MinimalLogger } from '../../base/logger.ts'
import { type Account, runProgram } from './run-program.ts'

const ownerOf = async (folder: string): Promise<Account | undefined> => {
  const found = await stat(folder).catch(() => undefined)
  return found && { uid: found.uid, gid: found.gid }
}

const accountNamed = async (name: string): Promise<Account | undefined> => {
  const [uid, gid] = await Promise.all([runProgram('id', ['-u', name]), runProgram('id', ['-g', name])])
  return uid.code === 0 && gid.code === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined
}

const unprivilegedAccount = async (): Promise<Account> => {
  for (const name of ['postgres', 'nobody']) {
    const account = await accountNamed(name)
    if (account && account.uid !== 0) return account
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as: ' +
      'create one (useradd --system postgres), start Tracebook as another user, or set DATABASE_URL',
  )
}

/**
 * The user that PostgreSQL has to run as; undefined for the user of this process. PostgreSQL refuses to run as root, so root
 * runs it as the owner of the cluster, otherwise as `postgres`, otherwise as `nobody`.
 * @throws Error if the cluster belongs to another user, or there is no user that root can use
 */
export const chooseAccount = async (cluster: string, log: MinimalLogger): Promise<Account | undefined> => {
  const self = process.getuid?.()
  const owner = await ownerOf(cluster)
  if (self !== 0) {
    if (!owner || owner.uid === self) return undefined
    throw new Error(
      `${cluster} belongs to user ${owner.uid}, but this is user ${self}: ` +
        'start Tracebook as that user or as root, choose another DATA_DIR, or set DATABASE_URL',
    )
  }
  const account = owner && owner.uid !== 0 ? owner : await unprivilegedAccount()
  log.info({ ...account }, `running as root: PostgreSQL runs as user ${account.uid}`)
  return account
}
