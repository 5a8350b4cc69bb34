package hook

import "github.com/content-automation/api/pkg/cloud/safehttp"

// UserAgent is the User-Agent of the requests to receivers.
const UserAgent = "ContentAutomation-Webhooks/1.0"

// NewClient returns the client that checks and calls the addresses of webhooks.
func NewClient(allowLoopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: allowLoopback, UserAgent: UserAgent, Timeout: AttemptTimeout})
}
