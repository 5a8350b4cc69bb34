package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/spf13/cobra"

	"github.com/content-automation/api/infra/operate/preflight"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/service/worker"
)

// keeper stores the value of a secret.
type keeper func(ctx context.Context, secret, value string) error

// keep stores a value in AWS Secrets Manager.
func keep(ctx context.Context, secret, value string) error {
	if secret == "" {
		return errors.New("name the secret by --secret or PROVIDER_SECRET, or PLATFORM_SECRET for the platforms: " +
			"they are the outputs ProviderSecretArn and PlatformSecretArn of the data stack")
	}
	cfg, err := configuration(ctx)
	if err != nil {
		return err
	}
	_, err = secretsmanager.NewFromConfig(cfg).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(secret), SecretString: aws.String(value),
	})
	return err
}

// maxCredentials bounds the input: a secret has 64 KiB at most.
const maxCredentials = 64 << 10

func providersCommand(out io.Writer, keep keeper) *cobra.Command {
	cmd := group("providers", "Set the credentials of the generation providers")
	return credentialsCommand(cmd, out, keep, "PROVIDER_SECRET", registry.CheckCredentials,
		"  admin providers set < credentials.json\n  "+registry.ExampleCredentials())
}

func platformsCommand(out io.Writer, keep keeper) *cobra.Command {
	cmd := group("platforms", "Set the applications that are registered with the social platforms")
	return credentialsCommand(cmd, out, keep, "PLATFORM_SECRET", social.CheckApps,
		"  admin platforms set < apps.json\n  "+social.ExampleApps())
}

// credentialsCommand adds a command to the group that replaces the value of a secret.
func credentialsCommand(cmd *cobra.Command, out io.Writer, keep keeper, variable string, check func(string) error,
	example string) *cobra.Command {
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	var secret string
	set := &cobra.Command{
		Use: "set", Short: "Read all credentials as JSON from standard input, and replace the earlier ones",
		Long: "Read all credentials as JSON from standard input, and replace the earlier ones. Functions use them " +
			"within five minutes.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredentials+1))
			if err != nil {
				return err
			}
			if len(value) > maxCredentials {
				return fmt.Errorf("the credentials are longer than %d KiB", maxCredentials>>10)
			}
			if err := check(string(value)); err != nil {
				return err
			}
			if err := keep(cmd.Context(), secret, string(value)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, "The credentials are stored.")
			return err
		},
	}
	set.Flags().StringVar(&secret, "secret", os.Getenv(variable), "ARN or name of the secret")
	cmd.AddCommand(set)
	return cmd
}

func openKeys(ctx context.Context) (kmsseal.API, error) {
	cfg, err := configuration(ctx)
	if err != nil {
		return nil, err
	}
	return kmsseal.NewAPI(cfg), nil
}

// provenanceCommand keeps the certificate of the Content Credentials.
func provenanceCommand(out io.Writer, s *services, open func(context.Context) (kmsseal.API, error)) *cobra.Command {
	var key, name, organization string
	cmd := group("provenance", "Keep the certificate that signs the origin of media")
	certificate := group("certificate", "Request, set, show and remove the certificate of the key of KMS")
	request := &cobra.Command{Use: "request", Short: "Print a certificate request, signed by the key, for an authority",
		Example: "  admin provenance certificate request --key alias/acme-prod-media --name 'Acme GmbH'",
		Args:    cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := openKey(cmd.Context(), open, key)
			if err != nil {
				return err
			}
			der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
				Subject:            pkix.Name{CommonName: name, Organization: []string{organization}},
				SignatureAlgorithm: x509.ECDSAWithSHA256}, k)
			if err != nil {
				return err
			}
			return pem.Encode(out, &pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
		}}
	request.Flags().StringVar(&name, "name", "", "name that readers of the files see")
	request.Flags().StringVar(&organization, "organization", "", "organization in the certificate")
	_ = request.MarkFlagRequired("name")
	set := &cobra.Command{Use: "set FILE", Short: "Sign live media with the certificate of a file in PEM, which " +
		"has those of its issuers behind it",
		Example: "  admin provenance certificate set chain.pem --key alias/acme-prod-media",
		Args:    cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			chain, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			k, err := openKey(cmd.Context(), open, key)
			if err == nil {
				err = suits(chain, k.public, s.now())
			}
			if err != nil {
				return err
			}
			return generate.SetCertificate(cmd.Context(), s.db, chain)
		}}
	for _, of := range []*cobra.Command{request, set} {
		of.Flags().StringVar(&key, "key", "", "key of KMS: the output MediaKeyArn of the data stack, or its alias")
		_ = of.MarkFlagRequired("key")
	}
	display := &cobra.Command{Use: "show", Short: "Print the certificate and its issuers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			chain, err := generate.Certificate(cmd.Context(), s.db)
			if err == nil && len(chain) == 0 {
				err = errors.New("there is no certificate: live media say their origin without a signature")
			}
			if err == nil {
				_, err = out.Write(chain)
			}
			return err
		}}
	remove := &cobra.Command{Use: "remove", Short: "Sign no live media from now on", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return generate.SetCertificate(cmd.Context(), s.db, nil)
		}}
	certificate.AddCommand(request, set, display, remove)
	cmd.AddCommand(certificate)
	return cmd
}

// suits returns why a chain cannot sign media with a key, or nil.
func suits(chain []byte, key crypto.PublicKey, now time.Time) error {
	var all []*x509.Certificate
	for block, rest := pem.Decode(chain); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("certificate %d: %w", len(all)+1, err)
		}
		all = append(all, c)
	}
	if len(all) < 2 {
		return errors.New("the file needs the certificate and those of its issuers, in PEM: C2PA takes none that has " +
			"issued itself")
	}
	leaf := all[0]
	own, _ := key.(interface{ Equal(crypto.PublicKey) bool })
	switch {
	case own == nil || !own.Equal(leaf.PublicKey):
		return errors.New("the first certificate is not of this key: request one by `certificate request`")
	case now.Before(leaf.NotBefore) || now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate holds from %s to %s", leaf.NotBefore.Format(time.DateOnly),
			leaf.NotAfter.Format(time.DateOnly))
	case leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 || len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0:
		return errors.New("the certificate needs the key usage digitalSignature, and an extended usage for " +
			"documents, claims of C2PA or e-mail")
	}
	for i, c := range all[:len(all)-1] {
		if !bytes.Equal(c.RawIssuer, all[i+1].RawSubject) || c.CheckSignatureFrom(all[i+1]) != nil {
			return fmt.Errorf("certificate %d is not issued by the one behind it", i+1)
		}
	}
	return nil
}

// remoteKey is a key of KMS as Go uses keys.
type remoteKey struct {
	kmsseal.Signer
	ctx    context.Context
	public *ecdsa.PublicKey
}

func openKey(ctx context.Context, open func(context.Context) (kmsseal.API, error), id string) (k remoteKey, err error) {
	api, err := open(ctx)
	if err != nil {
		return k, err
	}
	k.ctx, k.Signer = ctx, kmsseal.Signer{API: api, Key: id}
	k.public, _, err = k.Signer.Public(ctx)
	return k, err
}

// Public implements crypto.Signer.
func (k remoteKey) Public() crypto.PublicKey { return k.public }

// Sign implements crypto.Signer for digests of SHA-256.
func (k remoteKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	if len(digest) != sha256.Size {
		return nil, fmt.Errorf("a digest of %d bytes is none of SHA-256", len(digest))
	}
	return k.Signer.Sign(k.ctx, [sha256.Size]byte(digest))
}

// providerCommand changes what the providers of generations get to do, at once and without a deployment.
func providerCommand(out io.Writer, s *services) *cobra.Command {
	cmd := group("provider", "Turn a provider or model off and on, and limit its calls")
	change := func(cmd *cobra.Command, name string, change func(*pace.Settings)) error {
		if !known(name) {
			return fmt.Errorf("%q is neither a provider nor the id of a model of the catalog", name)
		}
		is, err := pace.Change(cmd.Context(), s.db, change)
		if err != nil {
			return err
		}
		return show(out, is)
	}
	off := &cobra.Command{Use: "off NAME", Short: "Stop all live calls of a provider or model: accepted work waits to its " +
		"deadline, and new work is refused", Example: "  admin provider off fal", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return change(cmd, args[0], func(s *pace.Settings) {
				if !slices.Contains(s.Off, args[0]) {
					s.Off = append(s.Off, args[0])
				}
			})
		}}
	on := &cobra.Command{Use: "on NAME", Short: "Allow calls again", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return change(cmd, args[0], func(s *pace.Settings) {
				s.Off = slices.DeleteFunc(s.Off, func(name string) bool { return name == args[0] })
			})
		}}
	limit := &cobra.Command{Use: "limit NAME CALLS", Short: "Set the most submissions a minute, such as the quota of the " +
		"account; 0 is any number", Example: "  admin provider limit stable-image-core 60", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 0 || n > maxPerMinute {
				return fmt.Errorf("%q is no number of calls a minute from 0 to %d", args[1], maxPerMinute)
			}
			return change(cmd, args[0], func(s *pace.Settings) { s.PerMinute[args[0]] = n })
		}}
	list := &cobra.Command{Use: "show", Short: "Show what is off, and the limits", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			is, err := pace.Read(cmd.Context(), s.db)
			if err != nil {
				return err
			}
			return show(out, is.Settings)
		}}
	quotas := &cobra.Command{Use: "quotas", Short: "Limit each model of Bedrock and Polly to the calls a minute that " +
		"Service Quotas names for the AWS account", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		limits, unknown := map[string]int{}, []string{}
		for _, service := range preflight.LimitedServices {
			all, err := s.quotas(cmd.Context(), service)
			if err != nil {
				return fmt.Errorf("read Service Quotas: %w", err)
			}
			some, others := preflight.Limits(catalog.Models(catalog.Filter{Provider: service}), all)
			maps.Copy(limits, some)
			unknown = append(unknown, others...)
		}
		is, err := pace.Change(cmd.Context(), s.db, func(s *pace.Settings) { maps.Copy(s.PerMinute, limits) })
		if err != nil {
			return err
		}
		if len(unknown) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "No quota names %s: their limits are as before.\n", strings.Join(unknown, ", "))
		}
		return show(out, is)
	}}
	cmd.AddCommand(off, on, limit, list, quotas)
	return cmd
}

const maxPerMinute = 100_000

// known reports whether a name is that of a provider or the id of a model.
func known(name string) bool {
	return slices.ContainsFunc(catalog.Models(catalog.Filter{}), func(m catalog.Model) bool {
		return m.ID == name || m.Provider == name
	})
}

func canaryCommand(out io.Writer, keep keeper) *cobra.Command {
	return valueCommand(out, keep, value{name: "canary", about: "Set the target of the canary",
		short: "Read the address of the API and a test key as JSON from standard input",
		long:  "The next probe uses them. {} ends the probes.",
		example: `  admin canary set < canary.json
  {"base_url": "https://api.acme.example", "key": "svc_test_…"}`,
		variable: "CANARY_SECRET", output: "CanarySecretArn", stored: "The target is stored.",
		check: func(text string) error {
			_, err := worker.ParseTarget(text)
			return err
		}})
}

func callerCommand(out io.Writer, keep keeper) *cobra.Command {
	return valueCommand(out, keep, value{name: "caller",
		about:    "Set the client certificate by which the account area and the server for agents call the API",
		short:    "Read a client certificate and its private key as JSON from standard input",
		long:     "They are in use after five minutes at the latest.",
		example:  `  jq -n --rawfile certificate client.pem --rawfile private_key client.key '$ARGS.named' | admin caller set`,
		variable: "CALLER_SECRET", output: "CallerSecretArn", stored: "The certificate is stored.",
		check: func(text string) error {
			_, err := secret.ParseCertificate(text)
			return err
		}})
}

// value is a value of a secret that an operator sets.
type value struct {
	name, about, short, long, example string
	// variable and output name the secret: in the environment, and among the outputs of the data stack.
	variable, output string
	stored           string
	check            func(text string) error
}

func valueCommand(out io.Writer, keep keeper, v value) *cobra.Command {
	cmd := group(v.name, v.about)
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return nil }
	var secret string
	set := &cobra.Command{Use: "set", Short: v.short, Example: v.example, Args: cobra.NoArgs,
		Long: v.short + ", and replace the earlier ones. " + v.long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredentials))
			if err != nil {
				return err
			}
			if err := v.check(string(text)); err != nil {
				return err
			}
			if secret == "" {
				return errors.New("name the secret by --secret or " + v.variable + ": it is the output " + v.output +
					" of the data stack")
			}
			if err := keep(cmd.Context(), secret, string(text)); err != nil {
				return err
			}
			_, err = fmt.Fprintln(out, v.stored)
			return err
		}}
	set.Flags().StringVar(&secret, "secret", os.Getenv(v.variable), "ARN or name of the secret")
	cmd.AddCommand(set)
	return cmd
}
