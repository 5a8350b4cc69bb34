package customer

import (
	"cmp"
	"fmt"
	"regexp"
)

var senderShape = regexp.MustCompile(`^[a-zA-Z0-9._+-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$`)

// PublicURL returns the address that people reach without a client certificate, or "" without a domain of the customer.
func (s Settings) PublicURL() string {
	domain := s.Domains[s.Region]
	if name := cmp.Or(domain.PublicName, domain.Name); name != "" {
		return "https://" + name
	}
	return ""
}

// mailFault returns what is wrong with the sender of e-mails to people.
func (s Settings) mailFault() error {
	if s.MailSender == "" || !s.Local() && senderShape.MatchString(s.MailSender) && s.PublicURL() != "" {
		return nil
	}
	return fmt.Errorf("mailSender is the address of a domain that Amazon SES has verified, such as "+
		"no-reply@acme.example, and needs a domain of the API in %s, which the links of e-mails have; %q of customer %s "+
		"is not, or lacks it", s.Region, s.MailSender, s.Customer)
}
