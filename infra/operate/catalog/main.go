// Command catalog compares the catalog of models with what is published today: the price table of the
// package litellm, the endpoints of the package @fal-ai/client, and, with AWS credentials, the models of Bedrock in a
// region. It prints each difference, writes the table of rows, and fails if a model ends within its notice.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock/lives"
	"github.com/content-automation/api/pkg/generate/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "catalog:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("catalog", flag.ContinueOnError)
	litellm := flags.String("litellm", "", "file of the package litellm; empty: the newest one is downloaded with pip")
	fal := flags.String("fal", "", "file of the package @fal-ai/client; empty: the newest one is downloaded with npm")
	region := flags.String("region", "", "AWS region whose models of Bedrock are read, by the credentials of the "+
		"environment; empty: none")
	table := flags.String("table", "infra/operate/catalog/testdata/models.md", "file of the table of rows; empty: none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "catalog")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	if *litellm == "" {
		*litellm, err = download(ctx, directory, "*.whl", "pip", "download", "--quiet", "--no-deps", "--dest", directory,
			"litellm")
	}
	if err == nil && *fal == "" {
		*fal, err = download(ctx, directory, "*.tgz", "npm", "pack", "--silent", "--pack-destination", directory,
			"@fal-ai/client")
	}
	if err != nil {
		return err
	}
	p, err := readPublished(*litellm, *fal)
	if err != nil {
		return err
	}
	found := compare(catalog.Rows(), p)
	offer := catalog.NewOffer(strings.Join(catalog.Providers(), ","), *region, time.Now)
	if *region != "" {
		read, err := livesOf(ctx, *region)
		if err != nil {
			return err
		}
		found = append(found, offer.Compare(read)...)
	}
	found = append(found, offer.EndingSoon()...)
	if *table != "" {
		if err := os.WriteFile(*table, []byte(tableOf(catalog.Rows(), p)), 0o644); err != nil {
			return err
		}
	}
	return report(out, found, p)
}

// report prints the differences. It fails if a model ends within its notice.
func report(out io.Writer, found []catalog.Difference, p published) error {
	ending := 0
	for _, d := range found {
		if _, err := fmt.Fprintln(out, d.Text); err != nil {
			return err
		}
		if d.Ends {
			ending++
		}
	}
	_, err := fmt.Fprintf(out, "%d differences from %s and %s\n", len(found), p.litellm, p.client)
	if ending > 0 {
		return errors.Join(err, fmt.Errorf("%d models end soon: tell callers by retires_on and successor", ending))
	}
	return err
}

// download runs the ordinary client of a registry, and returns the file that it has put into a directory.
func download(ctx context.Context, directory, pattern, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	files, err := filepath.Glob(filepath.Join(directory, pattern))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("%s has left %d files %s", name, len(files), pattern)
	}
	return files[0], nil
}

func livesOf(ctx context.Context, region string) (map[string]provider.Life, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
	if err != nil {
		return nil, err
	}
	return lives.Read(ctx, cfg)
}
