import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Debian's `golang-golang-x-mod-dev` lies. */
const GOPATH = process.env.TEST_GOPATH ?? '/usr/share/gocode'

/** Why programs in Go that use the packages of Go's checksum database cannot be run here; undefined if they can. */
export const whyNoGo = (): string | undefined => {
  if (!existsSync(join(GOPATH, 'src/golang.org/x/mod/sumdb/tlog'))) return `golang-golang-x-mod-dev is not in ${GOPATH}`
  return spawnSync('go', ['version']).status === 0 ? undefined : 'Go is not installed'
}

/** Builds a program in a folder, from Debian's packages, so that nothing is downloaded. Returns its path. */
export const buildGo = (folder: string, source: string): string => {
  const program = join(folder, 'program')
  const goSettings = { GOPATH, GO111MODULE: 'off', GOCACHE: join(folder, 'cache'), GOFLAGS: '', GOPROXY: 'off' }
  execFileSync('go', ['build', '-o', program, source], { env: { ...process.env, ...goSettings } })
  return program
}
