package stack

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

// signOn is the user pool that people sign in with. The providers of the customer's own people
// are federated into it: see the operator's command.
type signOn struct {
	pool   awscognito.UserPool
	domain awscognito.UserPoolDomain
}

// newSignOn makes the user pool. A standby has none: its pool would know nobody.
func newSignOn(stack awscdk.Stack, s customer.Settings) *signOn {
	if s.Standby() {
		return nil
	}
	props := &awscognito.UserPoolProps{
		UserPoolName: jsii.String(s.Short()),
		// An invited person signs up with the invited address, which the pool verifies. Whoever
		// signs up without an invitation is not admitted.
		SelfSignUpEnabled:   jsii.Bool(true),
		SignInAliases:       &awscognito.SignInAliases{Email: jsii.Bool(true)},
		SignInCaseSensitive: jsii.Bool(false),
		AutoVerify:          &awscognito.AutoVerifiedAttrs{Email: jsii.Bool(true)},
		// An address changes only after the new one is verified.
		KeepOriginal: &awscognito.KeepOriginalAttrs{Email: jsii.Bool(true)},
		StandardAttributes: &awscognito.StandardAttributes{
			Email:    &awscognito.StandardAttribute{Required: jsii.Bool(true), Mutable: jsii.Bool(true)},
			Fullname: &awscognito.StandardAttribute{Required: jsii.Bool(false), Mutable: jsii.Bool(true)},
		},
		CustomAttributes: &map[string]awscognito.ICustomAttribute{
			// The groups of a federated person, which the provider's attribute is mapped to.
			"groups": awscognito.NewStringAttribute(&awscognito.StringAttributeProps{Mutable: jsii.Bool(true),
				MaxLen: jsii.Number(2048)}),
		},
		PasswordPolicy: &awscognito.PasswordPolicy{MinLength: jsii.Number(12), RequireLowercase: jsii.Bool(false),
			RequireUppercase: jsii.Bool(false), RequireDigits: jsii.Bool(false), RequireSymbols: jsii.Bool(false),
			PasswordHistorySize: jsii.Number(4)},
		Mfa:             awscognito.Mfa_OPTIONAL,
		MfaSecondFactor: &awscognito.MfaSecondFactor{Otp: jsii.Bool(true), Sms: jsii.Bool(false)},
		AccountRecovery: awscognito.AccountRecovery_EMAIL_ONLY,
		FeaturePlan:     awscognito.FeaturePlan_ESSENTIALS,
		RemovalPolicy:   kept(s),
		// A lost pool loses all people, and their links to accounts: both name its issuer.
		DeletionProtection: jsii.Bool(!s.Local()),
	}
	if _, domain, ok := strings.Cut(s.SignInSender, "@"); ok {
		props.Email = awscognito.UserPoolEmail_WithSES(&awscognito.UserPoolSESOptions{
			FromEmail: jsii.String(s.SignInSender), SesVerifiedDomain: jsii.String(domain),
			SesRegion: jsii.String(s.Region)})
	}
	pool := awscognito.NewUserPool(stack, jsii.String("People"), props)
	accept(pool, finding{"AwsSolutions-COG1", "Passwords have at least 12 characters. Rules about kinds of characters " +
		"make them no stronger (NIST SP 800-63B)."},
		finding{"AwsSolutions-COG2", "People choose a second factor. Customers who require one sign in by their own " +
			"provider."},
		finding{"AwsSolutions-COG3", "It needs the plan Plus. Cognito locks a person out after wrong passwords; a " +
			"firewall limits the tries of an address where a customer asks for it."},
		finding{"AwsSolutions-COG8", "The plan Plus has no part that is used here."})
	domain := pool.AddDomain(jsii.String("Domain"), &awscognito.UserPoolDomainOptions{
		CognitoDomain: &awscognito.CognitoDomainOptions{
			DomainPrefix: jsii.String(s.SignInPrefix())},
		ManagedLoginVersion: awscognito.ManagedLoginVersion_NEWER_MANAGED_LOGIN,
	})
	output(stack, "UserPoolId", pool.UserPoolId())
	return &signOn{pool, domain}
}

// federates reports whether people sign in by providers of customers. The local pool has none.
func (d *data) federates() bool { return d.signOn != nil && !d.settings.Local() }

// The lifetimes of tokens in minutes. A refresh token lives as long as a session.
const (
	accessMinutes  = 15
	refreshMinutes = 12 * 60
)

// attributes returns the attributes that providers fill.
func attributes() awscognito.ClientAttributes {
	return awscognito.NewClientAttributes().WithStandardAttributes(&awscognito.StandardAttributesMask{
		Email: jsii.Bool(true), Fullname: jsii.Bool(true)}).WithCustomAttributes(jsii.String("groups"))
}

// client makes the client of the account area, which is public: it proves the sign-in by PKCE
// and has no secret. Base is the address of the API, and offered are the providers of the pool.
func (o *signOn) client(stack awscdk.Stack, base string, offered []string) awscognito.UserPoolClient {
	providers := []awscognito.UserPoolClientIdentityProvider{awscognito.UserPoolClientIdentityProvider_COGNITO()}
	for _, name := range offered {
		providers = append(providers, awscognito.UserPoolClientIdentityProvider_Custom(jsii.String(name)))
	}
	minutes := func(n float64) awscdk.Duration { return awscdk.Duration_Minutes(jsii.Number(n)) }
	client := awscognito.NewUserPoolClient(stack, jsii.String("AccountArea"), &awscognito.UserPoolClientProps{
		UserPool:           o.pool,
		UserPoolClientName: jsii.String(cognito.ClientName),
		GenerateSecret:     jsii.Bool(false),
		// The attributes that providers are mapped to: the pool refuses to sign a person in if the client may not write
		// one of them. They are read with a token of another scope than the account area has.
		ReadAttributes: attributes().WithStandardAttributes(&awscognito.StandardAttributesMask{
			Email: jsii.Bool(true), EmailVerified: jsii.Bool(true), Fullname: jsii.Bool(true)}),
		WriteAttributes: attributes(),
		OAuth: &awscognito.OAuthSettings{
			Flows: &awscognito.OAuthFlows{AuthorizationCodeGrant: jsii.Bool(true)},
			// Without aws.cognito.signin.user.admin no token of the page changes the attributes of its person.
			Scopes: &[]awscognito.OAuthScope{awscognito.OAuthScope_OPENID(), awscognito.OAuthScope_EMAIL(),
				awscognito.OAuthScope_PROFILE()},
			CallbackUrls: jsii.Strings(base + "/auth/callback"),
			LogoutUrls:   jsii.Strings(base + "/auth/signed-out"),
		},
		AccessTokenValidity:        minutes(accessMinutes),
		IdTokenValidity:            minutes(accessMinutes),
		RefreshTokenValidity:       minutes(refreshMinutes),
		EnableTokenRevocation:      jsii.Bool(true),
		PreventUserExistenceErrors: jsii.Bool(true),
		SupportedIdentityProviders: &providers,
	})
	// By AWS's guide ("Configure authentication methods for managed login"), the flows of the client decide what the
	// page offers: ALLOW_USER_PASSWORD_AUTH offers a password beside the providers. The client is public, so anybody
	// may also exchange the own password for a token of the scope aws.cognito.signin.user.admin, without the page. It
	// changes attributes of its person alone: pkg/auth/signin takes no such token and no groups of a person of the
	// pool, and a new address counts only after the pool has verified it.
	native, _ := client.Node().DefaultChild().(awscognito.CfnUserPoolClient)
	native.SetExplicitAuthFlows(jsii.Strings("ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_USER_PASSWORD_AUTH"))
	awscognito.NewCfnManagedLoginBranding(stack, jsii.String("LoginBranding"), &awscognito.CfnManagedLoginBrandingProps{
		UserPoolId: o.pool.UserPoolId(), ClientId: client.UserPoolClientId(),
		UseCognitoProvidedValues: jsii.Bool(true)})
	output(stack, "UserPoolClientId", client.UserPoolClientId())
	return client
}

// addresses returns the addresses of the API, of the pool's pages and of its keys.
func (o *signOn) addresses(l lambdas, g *gateway, issuer string) (base, pages, keys string) {
	s := l.data.settings
	if s.Local() {
		parameter := func(name string) string {
			return *awscdk.NewCfnParameter(l.stack, jsii.String(name), nil).ValueAsString()
		}
		base, pages = parameter(customer.BaseURLParameter), parameter(customer.SignInURLParameter)
		return base, pages, pages + "/" + *o.pool.UserPoolId() + "/.well-known/jwks.json"
	}
	// Browsers have no client certificate.
	base = "https://" + cmp.Or(s.Domains[s.Region].PublicName, s.Domains[s.Region].Name)
	if !g.named {
		base = fmt.Sprintf("https://%s.execute-api.%s.%s/%s", *g.api.RestApiId(), s.Region, *l.stack.UrlSuffix(), s.Stage)
	}
	return base, *o.domain.BaseUrl(nil), issuer + "/.well-known/jwks.json"
}

// issuer returns the name of the issuer of people's tokens.
func (o *signOn) issuer(s customer.Settings) string {
	return fmt.Sprintf("https://cognito-idp.%s.amazonaws.com/%s", s.Region, *o.pool.UserPoolId())
}

// nameIssuer tells the functions that name the issuer of people's tokens to callers.
func (o *signOn) nameIssuer(l lambdas) {
	for name, fn := range l.made {
		if topology.FunctionNamed(name).May(topology.NameIssuer) {
			fn.AddEnvironment(jsii.String("SIGN_IN_ISSUER"), jsii.String(o.issuer(l.data.settings)), nil)
		}
	}
}

// introduce tells the functions beside the gateway, which verify tokens or make people sign in, of the pool.
func (o *signOn) introduce(l lambdas, g *gateway) {
	s := l.data.settings
	issuer := o.issuer(s)
	base, pages, keys := o.addresses(l, g, issuer)
	client := o.client(l.stack, base, l.data.settings.Offered)
	variables := map[string]*string{
		"SIGN_IN_ISSUER":    jsii.String(issuer),
		"SIGN_IN_POOL":      jsii.String(s.Short()),
		"SIGN_IN_CLIENT_ID": client.UserPoolClientId(),
		"SIGN_IN_JWKS_URL":  jsii.String(keys),
	}
	endpoints := map[string]*string{
		"SIGN_IN_AUTHORIZE_URL": jsii.String(pages + "/oauth2/authorize"),
		"SIGN_IN_TOKEN_URL":     jsii.String(pages + "/oauth2/token"),
		"SIGN_IN_LOGOUT_URL":    jsii.String(pages + "/logout"),
	}
	add := func(fn awslambda.Function, values map[string]*string) {
		for name, value := range values {
			fn.AddEnvironment(jsii.String(name), value, nil)
		}
	}
	for name, fn := range l.made {
		add(fn, variables)
		if topology.FunctionNamed(name).May(topology.SignPeopleIn) {
			add(fn, endpoints)
			// The local pool federates nobody.
			if s.Local() {
				continue
			}
			add(fn, map[string]*string{"USER_POOL_ID": o.pool.UserPoolId()})
			// The set-up of a customer's provider, which a worker offers.
			fn.AddToRolePolicy(allow([]string{"cognito-idp:CreateIdentityProvider", "cognito-idp:UpdateIdentityProvider"},
				o.pool.UserPoolArn()))
		}
	}
}
