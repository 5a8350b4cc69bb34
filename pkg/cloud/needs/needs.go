// Package needs names what each function reads from its environment. What its entry
// in the table of functions permits, the stack names there; the addresses of queues
// have their names from the table itself.
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

// Seal is the ARN of the secret that what is stored is sealed with.
type Seal struct {
	SealSecret string `env:"SEAL_SECRET_ARN,notEmpty"`
}

// Secrets is the key that customers' secrets are sealed under.
type Secrets struct {
	SecretsKey string `env:"SECRETS_KEY_ARN,notEmpty"`
}

// Offers are the providers that live keys may use, separated by commas; it may be
// empty.
type Offers struct {
	Providers string `env:"PROVIDERS"`
}

// Loopback decides whether webhooks may go to the loopback address: see
// safehttp.AllowLoopback.
type Loopback struct {
	Stage         string `env:"STAGE,notEmpty"`
	AllowLoopback string `env:"ALLOW_LOOPBACK_WEBHOOKS"`
}

// Area is what every area that keeps state needs.
type Area struct {
	State
	Audit
	Seal
}

// Account is what the function account needs.
type Account struct {
	Area
	Media
}

// Catalog is what the function catalog needs.
type Catalog struct {
	State
	Audit
	Seal
	Offers
}

// Content is what the function content needs.
type Content struct {
	Area
	Media
	Offers
}

// Factory is what the function factory needs.
type Factory struct {
	Area
	Offers
}

// Studio is what the function studio needs.
type Studio struct {
	Area
	Media
	Offers
	Loopback
}

// Library is what the functions media and product need.
type Library struct {
	Area
	Media
	Loopback
}

// Import is what the function import-media needs.
type Import struct {
	State
	Media
	Loopback
}

// Webhook is what the function webhook needs.
type Webhook struct {
	Area
	Loopback
	Secrets
	DeliverRole string `env:"DELIVER_ROLE_ARN,notEmpty"`
}

// Platforms is what functions need that call the platforms of social accounts.
type Platforms struct {
	Secrets
	PlatformSecret   string `env:"PLATFORM_SECRET,notEmpty"`
	PlatformEndpoint string `env:"PLATFORM_ENDPOINT"`
	// YouTubeDailyUploads is the budget of uploads; 0: the platform's default.
	YouTubeDailyUploads int `env:"YOUTUBE_DAILY_UPLOADS"`
}

// Budgets are the budgets that the operator has set, by platform.
func (p Platforms) Budgets() map[string]int {
	if p.YouTubeDailyUploads == 0 {
		return nil
	}
	return map[string]int{"youtube": p.YouTubeDailyUploads}
}

// Social is what the function social needs.
type Social struct {
	Area
	Platforms
}

// Publish is what the function publish needs.
type Publish struct {
	State
	Media
	Platforms
}

// Architect is what the function architect needs.
type Architect struct {
	Area
	Offers
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Settle is what the function settle needs.
type Settle struct {
	State
	Seal
}

// Relay is what the function relay needs.
type Relay struct {
	Bus string `env:"BUS_NAME,notEmpty"`
}

// Chain is what the function chain needs.
type Chain struct {
	State
	Audit
}

// Generate is what the function generate needs.
type Generate struct {
	State
	Media
	Offers
	ProviderSecret   string `env:"PROVIDER_SECRET,notEmpty"`
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Canary is what the function canary needs.
type Canary struct {
	State
	CanarySecret string `env:"CANARY_SECRET,notEmpty"`
}

// Compose is what the function compose needs: FFmpeg is the program, and Fonts the folder
// of the fonts.
type Compose struct {
	State
	Media
	FFmpeg string `env:"FFMPEG_PATH,notEmpty"`
	Fonts  string `env:"FONTS_PATH,notEmpty"`
}

// Diagnose is what the function diagnose needs.
type Diagnose struct {
	State
	Offers
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Train is what the function train needs. Role and bucket are empty where nothing can be
// trained.
type Train struct {
	State
	Bucket           string `env:"MEDIA_BUCKET"`
	Role             string `env:"TRAINING_ROLE_ARN"`
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
}

// Deliver is what the functions deliver and deliver-slow need.
type Deliver struct {
	State
	Media
	Loopback
	Secrets
}

// Of returns the needs of each function, by its name.
func Of() map[string]any {
	return map[string]any{
		"authorizer": State{},
		"account":    Account{}, "apikey": Area{}, "catalog": Catalog{}, "factory": Factory{},
		"content": Content{}, "studio": Studio{}, "media": Library{}, "webhook": Webhook{}, "social": Social{}, "docs": struct{}{},
		"relay": Relay{}, "rollup": State{}, "chain": Chain{}, "generate": Generate{}, "compose": Compose{}, "import-media": Import{}, "diagnose": Diagnose{}, "train": Train{}, "publish": Publish{}, "dispatch": State{},
		"product": Library{},
		"deliver": Deliver{}, "deliver-slow": Deliver{}, "replay": State{}, "due": State{},
		"rotate-seal": Seal{}, "canary": Canary{},
		"architect": Architect{}, "settle": Settle{},
	}
}
