// Command compose is the program of the functions that work with files of media: compose makes finished ones of
// generated parts, and import-media checks those that callers bring in. It alone links the library of C2PA.
package main

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/service/worker/awsworker"
)

func main() {
	metric.SetupLog()
	awsenv.Must(struct{}{}, ffmpeg.Conceal())
	f := needs.Function()
	n, e := needs.Read(f), awsworker.Open(f)
	credentials := awsenv.Must(c2pa.OpenCredentials(n.C2PA, awsenv.Must(c2pa.NewTest(time.Now())), live(n, e)))
	e.Manifests = credentials
	if f.May(topology.DecodePictures) {
		e.FFmpeg = ffmpeg.Tool{Path: n.FFmpeg, Threads: runtime.NumCPU()}
	}
	if f.May(topology.RunFFmpeg) {
		dir := awsenv.Must(composer.Scratch(os.TempDir()))
		engine := awsenv.Must(compose.New(compose.Settings{FFmpeg: n.FFmpeg, Fonts: n.Fonts, Scratch: dir,
			Threads: runtime.NumCPU()}))
		e.Composer = &composer.Composer{Engine: engine, Objects: e.Files, Dir: dir, Credentials: credentials}
	}
	lambda.Start(worker.Named(f.Name).Open(e))
}

// live returns the signer of live media: the key of the stack, with the operator's certificate of the moment. A local
// stack has no key.
func live(n needs.Needs, e worker.Env) func(context.Context) (c2pa.Signer, error) {
	if n.Stage == "local" {
		return nil
	}
	signs, key := needs.Function().May(topology.SignMedia), kmsseal.NewSigner(e.AWS, n.MediaKey)
	return func(ctx context.Context) (c2pa.Signer, error) {
		chain, err := generate.Certificate(ctx, e.DB)
		if signs && n.MediaKey == "" {
			chain = nil // a standby region has no key that the certificate is of
		}
		return c2pa.Signer{Key: key, Chain: chain}, err
	}
}
