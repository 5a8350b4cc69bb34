// A call and a list with the client that openapi-generator makes for Go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	openapi "example.com/made"
)

func main() {
	settings := openapi.NewConfiguration()
	settings.Servers = openapi.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	client := openapi.NewAPIClient(settings)
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Getenv("SVC_TEST_KEY"))
	me, _, err := client.AccountAPI.GetMe(ctx).Execute()
	if err != nil {
		log.Fatal(err)
	}
	page, _, err := client.FactoriesAPI.ListFactories(ctx).Limit(10).Execute()
	if err != nil {
		log.Fatal(err)
	}
	if me.Data.Id == "" || page.Data == nil {
		log.Fatal(me, page)
	}
	fmt.Println("done")
}
