package needs

import (
	"os"
	"slices"

	"github.com/caarlos0/env/v11"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// FunctionName is the variable with the name of the function that a program runs as.
const FunctionName = "FUNCTION"

// Function returns the function that the program runs as. It panics if the variable names none.
func Function() topology.Function { return topology.Named(os.Getenv(FunctionName)) }

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
