package stack

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
)

func endpointType(s customer.Settings) awsapigateway.EndpointType {
	if len(s.PrivateEndpoints) > 0 {
		return awsapigateway.EndpointType_PRIVATE
	}
	return awsapigateway.EndpointType_REGIONAL
}

// callerEndpoints returns the VPC endpoints that may call a private API: the customer's endpoints
// and the canary's. It returns none for a public API.
func callerEndpoints(d *data) (endpoints []*string) {
	for _, id := range d.settings.PrivateEndpoints {
		endpoints = append(endpoints, jsii.String(id))
	}
	if d.probeEndpoint() != nil {
		endpoints = append(endpoints, d.probeEndpoint())
	}
	return endpoints
}

// probeEndpoint returns the id of the endpoint by which the canary calls a private API, or nil if there
// is none.
func (d *data) probeEndpoint() *string {
	if d.network == nil {
		return nil
	}
	return d.network.probe
}

// admit returns the policy of a private API, which admits calls by its callers' endpoints
// alone. It returns nil for a public API, whose callers are known by their keys.
func admit(d *data) awsiam.PolicyDocument {
	if len(d.settings.PrivateEndpoints) == 0 {
		return nil
	}
	// A relative resource is a resource of the API itself.
	statement := func(effect awsiam.Effect, operator string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Effect: effect, Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
			Actions: jsii.Strings("execute-api:Invoke"), Resources: jsii.Strings("execute-api:/*"),
			Conditions: &map[string]any{operator: map[string]any{"aws:SourceVpce": callerEndpoints(d)}},
		})
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		statement(awsiam.Effect_ALLOW, "StringEquals"), statement(awsiam.Effect_DENY, "StringNotEquals"),
	}})
}

// addProbeName gives a private API a name by which the canary calls it from the customer's network.
func (g *gateway) addProbeName(d *data) {
	if d.probeEndpoint() == nil {
		return
	}
	stack := awscdk.Stack_Of(g.api)
	g.api.Node().DefaultChild().(awsapigateway.CfnRestApi).SetEndpointConfiguration(
		&awsapigateway.CfnRestApi_EndpointConfigurationProperty{
			Types: jsii.Strings("PRIVATE"), VpcEndpointIds: &[]*string{d.probeEndpoint()},
		})
	output(stack, "ProbeUrl", awscdk.Fn_Join(jsii.String(""), &[]*string{
		jsii.String("https://"), g.api.RestApiId(), jsii.String("-"), d.probeEndpoint(),
		jsii.String(".execute-api." + d.settings.Region + "."), stack.UrlSuffix(), jsii.String("/" + d.settings.Stage),
	}))
}

// addDomain gives the API the customer's own domain in this region, if there is one.
func (g *gateway) addDomain(s customer.Settings) {
	domain, ok := s.Domains[s.Region]
	if !ok {
		return
	}
	options := &awsapigateway.DomainNameOptions{
		DomainName:     jsii.String(domain.Name),
		Certificate:    g.certificate("", domain),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	}
	if domain.Truststore != "" {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(domain.Truststore, "s3://"), "/")
		options.Mtls = &awsapigateway.MTLSConfig{Bucket: awss3.Bucket_FromBucketName(g.api, jsii.String("Truststore"),
			jsii.String(bucket)), Key: jsii.String(key)}
		if domain.TruststoreVersion != "" {
			options.Mtls.Version = jsii.String(domain.TruststoreVersion)
		}
	}
	if domain.Truststore == "" {
		// The policy of the API, as AWS recommends: a name with a truststore takes TLS_1_2 alone, and so does its API.
		options.SecurityPolicy = awsapigateway.SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09
		options.EndpointAccessMode = awsapigateway.EndpointAccessMode_STRICT
	}
	made := g.api.AddDomainName(jsii.String("Domain"), options)
	if domain.OwnershipCertificateArn != "" {
		made.Node().DefaultChild().(awsapigateway.CfnDomainName).SetOwnershipVerificationCertificateArn(
			jsii.String(domain.OwnershipCertificateArn))
	}
	g.point(made, "Domain", domain.Name, domain.HostedZoneID)
	if domain.PublicName == "" {
		return
	}
	public := customer.Domain{Name: domain.PublicName, CertificateArn: domain.PublicCertificateArn,
		HostedZoneID: domain.HostedZoneID}
	g.point(g.api.AddDomainName(jsii.String("PublicDomain"), &awsapigateway.DomainNameOptions{
		DomainName: jsii.String(public.Name), Certificate: g.certificate("Public", public),
		EndpointType: awsapigateway.EndpointType_REGIONAL, SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	}), "PublicDomain", public.Name, public.HostedZoneID)
}

// point shows what the customer's DNS record of a name points to, and makes the record in the customer's zone.
func (g *gateway) point(name awsapigateway.DomainName, id, host, zone string) {
	stack := awscdk.Stack_Of(g.api)
	output(stack, id+"Target", name.DomainNameAliasDomainName())
	if zone == "" {
		return
	}
	awsroute53.NewCfnRecordSet(stack, jsii.String(id+"Record"), &awsroute53.CfnRecordSetProps{
		HostedZoneId: jsii.String(zone), Name: jsii.String(host), Type: jsii.String("A"),
		AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{DnsName: name.DomainNameAliasDomainName(),
			HostedZoneId: name.DomainNameAliasHostedZoneId()},
	})
}

// certificate returns the customer's certificate, or a new one that a record in the customer's
// zone validates. AWS renews it as long as the record exists.
func (g *gateway) certificate(id string, domain customer.Domain) awscertificatemanager.ICertificate {
	if domain.CertificateArn != "" {
		return awscertificatemanager.Certificate_FromCertificateArn(g.api, jsii.String(id+"Certificate"),
			jsii.String(domain.CertificateArn))
	}
	zone := awsroute53.HostedZone_FromHostedZoneId(g.api, jsii.String(id+"Zone"), jsii.String(domain.HostedZoneID))
	return awscertificatemanager.NewCertificate(awscdk.Stack_Of(g.api), jsii.String(id+"Certificate"),
		&awscertificatemanager.CertificateProps{
			DomainName: jsii.String(domain.Name), Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
			// The default, RSA of 2048 bits, is weaker: 112 bits of security.
			KeyAlgorithm: awscertificatemanager.KeyAlgorithm_EC_PRIME256V1(),
		})
}
