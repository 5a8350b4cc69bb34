package webhook

import "github.com/content-automation/api/pkg/cloud/safehttp"

// UserAgent is the User-Agent of the requests to receivers.
const UserAgent = "ContentAutomation-Webhooks/1.0"

// ClientOptions are the options of the client that checks and calls the addresses of webhooks.
func ClientOptions() safehttp.Options {
	return safehttp.Options{UserAgent: UserAgent, Timeout: AttemptTimeout}
}

// NewClient returns the client that checks and calls the addresses of webhooks.
func NewClient(allowLoopback bool) *safehttp.Client {
	o := ClientOptions()
	o.AllowLoopback = allowLoopback
	return safehttp.New(o)
}
