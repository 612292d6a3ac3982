/** `user@host:path`, as git takes it beside addresses with a scheme. */
const SHORT = /^([^:/]+):(?!\/\/)(.*)$/s
const WITH_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?([^/:]*)(?::\d+)?(.*)$/is

/**
 * The address of a remote as `host/path`: without scheme, user, port and `.git`, in lower case, so that all addresses of a repository are one. A folder
 * has no host.
 */
export const repositoryOf = (address: string): string => {
  const [, host = '', path = address] = WITH_SCHEME.exec(address) ?? SHORT.exec(address) ?? []
  const names = path.split('/').filter((name) => name !== '')
  return [host.slice(host.lastIndexOf('@') + 1), ...names]
    .filter((name) => name !== '')
    .join('/')
    .replace(/\.git$/i, '')
    .toLowerCase()
}
