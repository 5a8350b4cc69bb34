package stack

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// mailSet is the name of the configuration set of Amazon SES.
func mailSet(s customer.Settings) string { return s.Short() + "-mail" }

// newMailSet makes the rules that e-mails follow: an address that has bounced for good, or whose owner has complained,
// gets no more e-mails of the AWS account.
func newMailSet(stack awscdk.Stack, s customer.Settings) {
	if s.MailSender == "" {
		return
	}
	awscdk.NewCfnResource(stack, jsii.String("MailSet"), &awscdk.CfnResourceProps{
		Type: jsii.String("AWS::SES::ConfigurationSet"),
		Properties: &map[string]any{
			"Name":               mailSet(s),
			"SuppressionOptions": map[string]any{"SuppressedReasons": []string{"BOUNCE", "COMPLAINT"}},
			"ReputationOptions":  map[string]any{"ReputationMetricsEnabled": true},
			"DeliveryOptions":    map[string]any{"TlsPolicy": "REQUIRE"},
		},
	})
}

// mail sets the variables of e-mails.
func (l lambdas) mail(f topology.Function, env map[string]*string) {
	s := l.data.settings
	if s.MailSender == "" {
		return
	}
	if f.May(topology.KnowMail) {
		env["MAIL_SENDER"] = jsii.String(s.MailSender)
	}
	if f.May(topology.SendMail) {
		env["MAIL_SET"], env["PUBLIC_URL"] = jsii.String(mailSet(s)), jsii.String(s.PublicURL())
	}
}

// sendsMail permits sending e-mails from the address of the settings alone.
func (l lambdas) sendsMail() awsiam.PolicyStatement {
	s := l.data.settings
	_, domain, _ := strings.Cut(s.MailSender, "@")
	arn := func(what string) *string {
		return jsii.String(fmt.Sprintf("arn:%s:ses:%s:%s:%s", *l.stack.Partition(), s.Region, *l.stack.Account(), what))
	}
	from := condition("StringEquals", "ses:FromAddress", s.MailSender)
	return from(allow([]string{"ses:SendEmail"}, arn("identity/"+domain), arn("configuration-set/"+mailSet(s))))
}
