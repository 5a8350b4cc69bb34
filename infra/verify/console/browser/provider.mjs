// The OpenID Connect provider of a customer. Whoever comes is who they say. It prints its port when it listens.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const given = JSON.parse(process.argv[2]);
const provider = new Provider(given.issuer, {
  clients: [{ client_id: given.client, client_secret: given.secret, redirect_uris: [given.redirect] }],
  claims: { email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, email_verified: true, name: 'Bob', groups: ['api-admins'] }) }),
  cookies: { keys: ['a key of the tests'] },
});
provider.proxy = true; // TLS ends before it
const server = createServer(provider.callback());
server.listen(0, '127.0.0.1', () => { console.log(server.address().port); });
