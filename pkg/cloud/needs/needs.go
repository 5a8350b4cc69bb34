// Package needs names the variables that each function reads from its environment. The stack sets them according to the
// function's entry in the table of functions. The names of the queues' variables come from that table.
package needs

// State is the state table.
type State struct {
	Table string `env:"TABLE_NAME,notEmpty"`
}

// Audit is the audit table.
type Audit struct {
	AuditTable string `env:"AUDIT_TABLE_NAME,notEmpty"`
}

// Media is the bucket of the media.
type Media struct {
	Bucket string `env:"MEDIA_BUCKET,notEmpty"`
}

// Seal is the ARN of the sealing secret.
type Seal struct {
	SealSecret string `env:"SEAL_SECRET_ARN,notEmpty"`
}

// Secrets is the ARN of the key that seals customers' secrets.
type Secrets struct {
	SecretsKey string `env:"SECRETS_KEY_ARN,notEmpty"`
}

// Offers are the providers that live keys may use, separated by commas. The list may be empty.
type Offers struct {
	Providers string `env:"PROVIDERS"`
}

// Loopback decides whether webhooks may go to the loopback address: see
// safehttp.AllowLoopback.
type Loopback struct {
	Stage         string `env:"STAGE,notEmpty"`
	AllowLoopback string `env:"ALLOW_LOOPBACK_WEBHOOKS"`
}

// SignIn has the OpenID Connect issuer that people of the account area sign in with. Without an issuer nobody signs in.
type SignIn struct {
	// Issuer is compared with the tokens exactly.
	Issuer   string `env:"SIGN_IN_ISSUER"`
	ClientID string `env:"SIGN_IN_CLIENT_ID"`
	// KeysURL has the issuer's keys as a JSON Web Key Set. The other URLs are its endpoints.
	KeysURL      string `env:"SIGN_IN_JWKS_URL"`
	AuthorizeURL string `env:"SIGN_IN_AUTHORIZE_URL"`
	TokenURL     string `env:"SIGN_IN_TOKEN_URL"`
	LogoutURL    string `env:"SIGN_IN_LOGOUT_URL"`
}

// Authorizer has the needs of the function authorizer.
type Authorizer struct {
	State
	SignIn
}

// Console has the needs of the function console.
type Console struct {
	State
	Audit
	Seal
	SignIn
	// Pool is the id of the user pool, which is empty if there is none.
	Pool string `env:"USER_POOL_ID"`
}

// MCP has the needs of the function mcp.
type MCP struct{ SignIn }

// Area has the needs of every area that keeps state.
type Area struct {
	State
	Audit
	Seal
}

// Account has the needs of the function account.
type Account struct {
	Area
	Media
}

// Catalog has the needs of the function catalog.
type Catalog struct {
	State
	Audit
	Seal
	Offers
}

// Content has the needs of the function content.
type Content struct {
	Area
	Media
	Offers
	Moderation
}

// Moderation has the name of the guardrail that moderates texts. It is empty if none does.
type Moderation struct {
	Guardrail        string `env:"GUARDRAIL"`
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Factory has the needs of the function factory.
type Factory struct {
	Area
	Offers
}

// Studio has the needs of the function studio.
type Studio struct {
	Area
	Media
	Offers
	Loopback
}

// Library has the needs of the functions media and product.
type Library struct {
	Area
	Media
	Loopback
}

// Import has the needs of the function import-media.
type Import struct {
	State
	Media
	Loopback
}

// Webhook has the needs of the function webhook.
type Webhook struct {
	Area
	Loopback
	Secrets
	DeliverRole string `env:"DELIVER_ROLE_ARN,notEmpty"`
}

// Platforms has the needs of functions that call the platforms of social accounts.
type Platforms struct {
	Secrets
	PlatformSecret   string `env:"PLATFORM_SECRET,notEmpty"`
	PlatformEndpoint string `env:"PLATFORM_ENDPOINT"`
	// YouTubeDailyUploads is the budget of uploads. 0 means the platform's default.
	YouTubeDailyUploads int `env:"YOUTUBE_DAILY_UPLOADS"`
	// XDailyCents is how much the calls of X may cost on a day, in US cents. 0 means the default.
	XDailyCents int `env:"X_DAILY_CENTS"`
	// Optional are the platforms that the stack has beyond those that are always there, separated by commas. The list
	// may be empty.
	Optional string `env:"PLATFORMS"`
}

// Budgets returns the budgets that the operator has set, by platform.
func (p Platforms) Budgets() map[string]int {
	budgets := map[string]int{}
	if p.YouTubeDailyUploads > 0 {
		budgets["youtube"] = p.YouTubeDailyUploads
	}
	if p.XDailyCents > 0 {
		budgets["x"] = p.XDailyCents * 10 // tenths of a cent
	}
	return budgets
}

// Social has the needs of the function social.
type Social struct {
	Area
	Platforms
}

// CRM has the needs of the function crm.
type CRM struct {
	Area
	Platforms
	Loopback
}

// SyncCRM has the needs of the function sync-crm.
type SyncCRM struct {
	State
	Media
	Platforms
	Loopback
	Offers
}

// Publish has the needs of the function publish.
type Publish struct {
	State
	Media
	Platforms
}

// Architect has the needs of the function architect.
type Architect struct {
	Area
	Offers
	Moderation
}

// Settle has the needs of the function settle.
type Settle struct {
	State
	Seal
	Offers
	Moderation
	Loopback
}

// Relay has the needs of the function relay.
type Relay struct {
	Bus string `env:"BUS_NAME,notEmpty"`
}

// Chain has the needs of the function chain.
type Chain struct {
	State
	Audit
}

// Generate has the needs of the function generate.
type Generate struct {
	State
	Media
	Offers
	Loopback
	ProviderSecret string `env:"PROVIDER_SECRET,notEmpty"`
	Moderation
}

// Canary has the needs of the function canary.
type Canary struct {
	State
	CanarySecret string `env:"CANARY_SECRET,notEmpty"`
}

// Compose has the needs of the function compose: FFmpeg is the program, and Fonts the folder of the fonts.
type Compose struct {
	State
	Media
	FFmpeg string `env:"FFMPEG_PATH,notEmpty"`
	Fonts  string `env:"FONTS_PATH,notEmpty"`
}

// Diagnose has the needs of the function diagnose.
type Diagnose struct {
	State
	Offers
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Train has the needs of the function train. Role and bucket are empty if nothing can be trained.
type Train struct {
	State
	Bucket           string `env:"MEDIA_BUCKET"`
	Role             string `env:"TRAINING_ROLE_ARN"`
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Deliver has the needs of the functions deliver and deliver-slow.
type Deliver struct {
	State
	Media
	Loopback
	Secrets
}

// Of returns the needs of each function, by its name.
func Of() map[string]any {
	return map[string]any{
		"authorizer": Authorizer{},
		"account":    Account{}, "apikey": Area{}, "catalog": Catalog{}, "factory": Factory{},
		"content": Content{}, "studio": Studio{}, "media": Library{}, "webhook": Webhook{}, "social": Social{}, "crm": CRM{},
		"sync-crm": SyncCRM{},
		"docs":     struct{}{}, "console": Console{}, "mcp": MCP{},
		"relay": Relay{}, "rollup": State{}, "chain": Chain{}, "generate": Generate{}, "compose": Compose{},
		"import-media": Import{}, "diagnose": Diagnose{}, "train": Train{}, "publish": Publish{}, "dispatch": State{},
		"product": Library{},
		"deliver": Deliver{}, "deliver-slow": Deliver{}, "replay": State{}, "due": State{},
		"rotate-seal": Seal{}, "canary": Canary{},
		"architect": Architect{}, "settle": Settle{},
	}
}
