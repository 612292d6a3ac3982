/** What is wrong with a URL of PostgreSQL that lists hosts, which the client cannot try in turn. Undefined for a URL with one host. */
export const severalHosts = (url: string): string | undefined => {
  const [, authority = '', query] = /^\w+:\/\/([^/?#]*)[^?]*(\?[^#]*)?/.exec(url) ?? []
  const parameter = new URLSearchParams(query).get('host') ?? ''
  const hosts = [authority.slice(authority.lastIndexOf('@') + 1), parameter]
  const count = Math.max(...hosts.map((list) => list.split(',').length))
  if (count === 1) return undefined
  return `takes one host, not ${count}: give an address that always leads to the primary, such as that of a proxy`
}
