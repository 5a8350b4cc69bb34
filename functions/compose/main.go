// Command compose is the Lambda function that makes finished media of generated parts.
package main

import (
	"os"
	"runtime"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/service/worker"
	wiring "github.com/content-automation/api/pkg/service/worker/compose"
	"github.com/content-automation/api/pkg/store"
)

func main() {
	logging.Setup()
	awsenv.Must(struct{}{}, ffmpeg.Conceal())
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Compose]()
	files, dir := objects.New(cfg, n.Bucket), awsenv.Must(composer.Scratch(os.TempDir()))
	engine := awsenv.Must(compose.New(compose.Settings{
		FFmpeg: n.FFmpeg, Fonts: n.Fonts, Scratch: dir, Threads: runtime.NumCPU(),
	}))
	db := store.Open(cfg, n.Table)
	handlers := wiring.Handlers(wiring.Config{
		DB: db, Objects: files, Composer: &composer.Composer{Engine: engine, Objects: files, Dir: dir}, Now: time.Now,
	})
	lambda.Start(worker.Consume("compose", cfg, db, handlers))
}
