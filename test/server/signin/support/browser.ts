/** Follows redirects with cookies, as a browser does, up to the first address that begins with `until`. */
export const follow = async (start: string, until: string): Promise<URL> => {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  while (!url.href.startsWith(until)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0]!.split('=')
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`${url.href} answers ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
  }
  return url
}
