// Package needs reads the variables that the stack sets in the environment of a function. Which ones it sets follows
// from the function's entry in the table of functions. Read reads the environment of a function into Needs.
package needs

import (
	"os"
	"slices"

	"github.com/caarlos0/env/v11"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Needs has the variables of a function. Those of other functions are empty.
type Needs struct {
	// Stage decides with AllowLoopback whether callers' addresses may be on loopback: see safehttp.AllowLoopback.
	Stage         string `env:"STAGE"`
	AllowLoopback string `env:"ALLOW_LOOPBACK_WEBHOOKS"`

	Table      string `env:"TABLE_NAME"`
	AuditTable string `env:"AUDIT_TABLE_NAME"`
	// Bucket is the name of the S3 bucket for media.
	Bucket string `env:"MEDIA_BUCKET"`
	// SealSecret is the ARN of the sealing secret.
	SealSecret string `env:"SEAL_SECRET_ARN"`
	// SecretsKey is the ARN of the key that seals customers' secrets.
	SecretsKey string `env:"SECRETS_KEY_ARN"`
	Bus        string `env:"BUS_NAME"`

	SignIn
	// Pool is the id of the user pool, which is empty if there is none.
	Pool string `env:"USER_POOL_ID"`

	// Providers are the providers that live keys may use, separated by commas. The list may be empty.
	Providers        string `env:"PROVIDERS"`
	ProviderSecret   string `env:"PROVIDER_SECRET"`
	ProviderEndpoint string `env:"PROVIDER_ENDPOINT"`
	// Guardrail moderates texts. It is empty if none does.
	Guardrail string `env:"GUARDRAIL"`
	// TrainingRole is empty if nothing can be trained.
	TrainingRole string `env:"TRAINING_ROLE_ARN"`

	PlatformSecret   string `env:"PLATFORM_SECRET"`
	PlatformEndpoint string `env:"PLATFORM_ENDPOINT"`
	// YouTubeDailyUploads is the budget of uploads. 0 means the platform's default.
	YouTubeDailyUploads int `env:"YOUTUBE_DAILY_UPLOADS"`
	// XDailyCents is how much the calls of X may cost on a day, in US cents. 0 means the default.
	XDailyCents int `env:"X_DAILY_CENTS"`
	// Platforms are the platforms that the stack has beyond those that are always there, separated by commas. The list
	// may be empty.
	Platforms string `env:"PLATFORMS"`

	DeliverRole  string `env:"DELIVER_ROLE_ARN"`
	CanarySecret string `env:"CANARY_SECRET"`
	// PublicURL is the address of the API that browsers, platforms, CRMs and directories are given. It is empty if they
	// use the address that the caller used.
	PublicURL string `env:"PUBLIC_URL"`
	// APIURL is the address at which the account area and the server for agents call the API, and CallerSecret the ARN
	// of the secret with the client certificate for that. Both are empty if they use the address that the caller used.
	APIURL       string `env:"API_URL"`
	CallerSecret string `env:"CALLER_SECRET"`
	// FFmpeg is the program, and Fonts the folder of the fonts.
	FFmpeg string `env:"FFMPEG_PATH"`
	Fonts  string `env:"FONTS_PATH"`
	// C2PA is the file of the library that signs media, and MediaKey the ARN of the key, which signs dossiers too. A
	// local stack has no key.
	C2PA     string `env:"C2PA_PATH"`
	MediaKey string `env:"MEDIA_KEY_ARN"`
	// MailSender is the address that e-mails come from. It is empty if the stack sends none. MailSet is the set of
	// rules of Amazon SES that they follow.
	MailSender string `env:"MAIL_SENDER"`
	MailSet    string `env:"MAIL_SET"`
}

// SignIn has the OpenID Connect issuer that people of the account area sign in with. Without an issuer nobody signs in.
type SignIn struct {
	// Issuer is compared with the tokens exactly.
	Issuer string `env:"SIGN_IN_ISSUER"`
	// Pool is the name that stored identities have instead of the issuer's, which contains its region: the same people
	// may sign in at another issuer one day, after a move to another region or to a replicated pool. It never changes.
	Pool     string `env:"SIGN_IN_POOL"`
	ClientID string `env:"SIGN_IN_CLIENT_ID"`
	// KeysURL has the issuer's keys as a JSON Web Key Set. The other URLs are its endpoints.
	KeysURL      string `env:"SIGN_IN_JWKS_URL"`
	AuthorizeURL string `env:"SIGN_IN_AUTHORIZE_URL"`
	TokenURL     string `env:"SIGN_IN_TOKEN_URL"`
	LogoutURL    string `env:"SIGN_IN_LOGOUT_URL"`
}

// Budgets returns the budgets that the operator has set, by platform.
func (n Needs) Budgets() map[string]int {
	budgets := map[string]int{}
	if n.YouTubeDailyUploads > 0 {
		budgets["youtube"] = n.YouTubeDailyUploads
	}
	if n.XDailyCents > 0 {
		budgets["x"] = n.XDailyCents * 10 // tenths of a cent
	}
	return budgets
}

// FunctionName is the variable with the name of the function that a program runs as.
const FunctionName = "FUNCTION"

// Function returns the function that the program runs as. It panics if the variable names none.
func Function() topology.Function { return topology.FunctionNamed(os.Getenv(FunctionName)) }

// variable is a variable with the functions that get it.
type variable struct {
	name string
	of   func(topology.Function) bool
}

func having(grants ...topology.Grant) func(topology.Function) bool {
	return func(f topology.Function) bool { return f.May(grants...) }
}

// signIns are the functions that know the issuer of people's tokens.
func signIns(f topology.Function) bool {
	return f.Trigger == topology.AsAuthorizer || f.May(topology.SignPeopleIn, topology.NameIssuer)
}

// required are the variables without which a function does not start.
var required = []variable{
	{"STAGE", func(topology.Function) bool { return true }},
	{"TABLE_NAME", func(f topology.Function) bool { return f.State != nil }},
	{"AUDIT_TABLE_NAME", func(f topology.Function) bool { return f.Audit != nil }},
	{"MEDIA_BUCKET", func(f topology.Function) bool { return f.Media != topology.None }},
	{"SEAL_SECRET_ARN", func(f topology.Function) bool {
		return f.ReadsSeal() || f.Trigger == topology.ByRotation
	}},
	{"SECRETS_KEY_ARN", having(topology.SealSecrets, topology.OpenSecrets, topology.CallPlatforms)},
	{"BUS_NAME", having(topology.PublishEvents)},
	{"PROVIDER_SECRET", having(topology.CallProviders)},
	{"PLATFORM_SECRET", having(topology.CallPlatforms)},
	{"DELIVER_ROLE_ARN", having(topology.NameDeliverRole)},
	{"CANARY_SECRET", having(topology.ProbeAPI)},
	{"FFMPEG_PATH", having(topology.RunFFmpeg, topology.DecodePictures)},
	{"FONTS_PATH", having(topology.RunFFmpeg)},
	{"C2PA_PATH", having(topology.ReadManifests)},
}

// optional are the variables that a stack may leave out.
var optional = []variable{
	{"ALLOW_LOOPBACK_WEBHOOKS", having(topology.ReachAddresses)},
	{"SIGN_IN_ISSUER", signIns}, {"SIGN_IN_POOL", signIns}, {"SIGN_IN_CLIENT_ID", signIns},
	{"SIGN_IN_JWKS_URL", signIns},
	{"SIGN_IN_AUTHORIZE_URL", signIns}, {"SIGN_IN_TOKEN_URL", signIns}, {"SIGN_IN_LOGOUT_URL", signIns},
	{"PUBLIC_URL", func(f topology.Function) bool {
		return f.Trigger == topology.ByGateway || f.May(topology.SendMail)
	}},
	{"MAIL_SENDER", having(topology.KnowMail)},
	{"MAIL_SET", having(topology.SendMail)},
	{"API_URL", having(topology.CallAPI)}, {"CALLER_SECRET", having(topology.CallAPI)},
	{"USER_POOL_ID", having(topology.SignPeopleIn, topology.OfferProviders,
		topology.ForgetPeople)},
	{"PROVIDERS", having(topology.KnowProviders)},
	{"PROVIDER_ENDPOINT", having(topology.CallProviders, topology.CallTextModels, topology.TrainModels,
		topology.ModerateTexts)},
	{"GUARDRAIL", having(topology.ModerateTexts)},
	{"TRAINING_ROLE_ARN", having(topology.TrainModels)},
	{"MEDIA_BUCKET", having(topology.TrainModels)},
	{"PLATFORM_ENDPOINT", having(topology.CallPlatforms)},
	{"YOUTUBE_DAILY_UPLOADS", having(topology.CallPlatforms)},
	{"X_DAILY_CENTS", having(topology.CallPlatforms)},
	{"PLATFORMS", having(topology.CallPlatforms)},
	{"MEDIA_KEY_ARN", having(topology.SignMedia, topology.SignDossiers)},
}

// Required returns the names of the variables without which a function does not start, except for those of its queues.
func Required(f topology.Function) []string { return names(required, f) }

// Optional returns the names of the variables that a stack may leave out for a function.
func Optional(f topology.Function) []string { return names(optional, f) }

func names(all []variable, f topology.Function) (names []string) {
	for _, v := range all {
		if v.of(f) {
			names = append(names, v.name)
		}
	}
	return names
}

// Read reads the needs of a function. It panics if a variable is missing, at the start of the function, so that its
// deployment fails.
func Read(f topology.Function) Needs {
	if i := slices.IndexFunc(required, func(v variable) bool { return v.of(f) && os.Getenv(v.name) == "" }); i >= 0 {
		panic("needs: " + required[i].name + " is not set")
	}
	return env.Must(env.ParseAs[Needs]())
}

// QueueURLs reads the addresses of queues. It panics if one is missing.
func QueueURLs(queues []topology.Queue) map[topology.Queue]string {
	urls := make(map[topology.Queue]string, len(queues))
	for _, q := range queues {
		if urls[q] = os.Getenv(q.EnvName()); urls[q] == "" {
			panic("needs: " + q.EnvName() + " is not set")
		}
	}
	return urls
}
