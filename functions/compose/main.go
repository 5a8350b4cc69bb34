// Command compose is the program of the function that makes finished media of generated parts.
package main

import (
	"os"
	"runtime"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/service/worker"
)

func main() {
	metric.SetupLog()
	awsenv.Must(struct{}{}, ffmpeg.Conceal())
	f := needs.Function()
	n, e, dir := needs.Read(f), worker.Open(f), awsenv.Must(composer.Scratch(os.TempDir()))
	engine := awsenv.Must(compose.New(compose.Settings{
		FFmpeg: n.FFmpeg, Fonts: n.Fonts, Scratch: dir, Threads: runtime.NumCPU(),
	}))
	e.Composer = &composer.Composer{Engine: engine, Objects: e.Files, Dir: dir}
	lambda.Start(worker.Named(f.Name).Open(e))
}
