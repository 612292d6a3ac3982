import { start } from '../../support/processes.ts'
import type { User } from '../../support/user.ts'

/** A command that keeps running, and its output so far. */
export const startFollowing = (user: User, ...args: string[]) => {
  const { child, ended } = start([...args], user.variables)
  let [out, err] = ['', '']
  child.stdout!.on('data', (text) => (out += String(text)))
  child.stderr!.on('data', (text) => (err += String(text)))
  const end = () => {
    child.kill('SIGINT')
    return ended
  }
  return { out: () => out, err: () => err, ended, end }
}
