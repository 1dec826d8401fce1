// An OpenID provider for tests: whoever types an address is signed in with it. Arguments: port, client's base address.
import { Provider } from "npm:oidc-provider@9.13.3";

const [port, client] = Deno.args;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: "compileboard",
    client_secret: "a secret of a test",
    redirect_uris: [`${client}/oauth2callback`],
    post_logout_redirect_uris: [`${client}/oauth2callback`],
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["of a test"] },
  pkce: { required: () => false },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: !id.startsWith("unverified") }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
