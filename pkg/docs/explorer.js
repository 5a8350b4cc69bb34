// Starts the explorer. Everything that would call another host is off; the
// page's Content-Security-Policy would stop it too.
'use strict';

// The folder above the page: the API itself, also behind a stage's path.
const root = new URL('..', location.href);

Scalar.createApiReference('#explorer', {
  url: new URL('openapi.json', root).href,
  // Calls go straight to where the page came from, with the key typed into it.
  servers: [{ url: root.href.replace(/\/$/, '') }],
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: false, // a key is not left behind in the browser

  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',

  hideModels: true,
  documentDownloadType: 'both',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
