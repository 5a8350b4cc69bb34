package system

import (
	"os"
	"slices"
	"strings"
)

// The account and the credentials of the emulated AWS; it accepts any.
const (
	awsAccount = "000000000000"
	awsKey     = "test"
)

// passed are the variables that a child may see of the person's own: where
// programs and certificates are, and how to reach the network. Everything else,
// AWS credentials above all, stays out of the local system.
var passed = []string{
	"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "SHELL",
	"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GONOSUMDB", "GOPRIVATE",
}

// environment is that of a child: what is passed on, and what is set here.
func environment(set map[string]string) []string {
	var env []string
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	// The emulated AWS and the fakes are on this machine, whatever the proxy.
	env = append(env, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// withTools is the whole environment for a tool that installs something: its
// settings (registries, caches) are the person's own.
func withTools() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
}
