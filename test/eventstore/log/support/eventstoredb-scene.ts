import { suite } from 'uvu'
import {
  type EventStoreLogOptions,
  openEventStoreLog,
} from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { IdentityStore } from '../../../../src/eventstore/log/eventstoredb/identity-store.ts'
import type { EventLog } from '../../../../src/eventstore/log/log.ts'
import { type Double, type DoubleOptions, startDouble } from '../../../support/eventstoredb/server.ts'
import { type Proxy, newProxy } from './proxy.ts'

/** For each test a server of its own, and a network that can fail. */
export type Scene = {
  double: Double
  /** Starts another server, which stops at the end of the test. */
  another(options?: DoubleOptions): Promise<Double>
  open(options?: Partial<EventStoreLogOptions>): EventLog & IdentityStore
  /** The network to the server, which is created at the first call, with the URL that leads through it. */
  network(): Promise<{ proxy: Proxy; url: string }>
  end(): Promise<void>
}

const build = async (): Promise<Scene> => {
  const double = await startDouble()
  const doubles = [double]
  const opened: EventLog[] = []
  const proxies: Proxy[] = []
  const another = async (options: DoubleOptions = {}) => {
    const other = await startDouble(options)
    doubles.push(other)
    return other
  }
  const open = (options: Partial<EventStoreLogOptions> = {}) => {
    const log = openEventStoreLog({ url: double.url, ...options })
    opened.push(log)
    return log
  }
  const network = async () => {
    const proxy = await newProxy(double.url)
    proxies.push(proxy)
    return { proxy, url: `esdb://127.0.0.1:${new URL(proxy.url).port}?tls=false` }
  }
  const end = async () => {
    for (const { faults } of doubles) faults.resume()
    for (const proxy of proxies) proxy.set('pass')
    await Promise.all(opened.map((log) => log.close()))
    await Promise.all(proxies.map((proxy) => proxy.close()))
    await Promise.all(doubles.map((each) => each.stop()))
  }
  return { double, another, open, network, end }
}

export const eventStoreSuite = (name: string) => {
  const test = suite<Scene>(name)
  test.before.each(async (scene) => void Object.assign(scene, await build()))
  test.after.each(({ end }) => end())
  return test
}
