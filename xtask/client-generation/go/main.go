// The first calls of an integrator in the sandbox, by a client that openapi-generator generated.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"

	"client/guerdon"
)

var (
	baseURL  = os.Getenv("BASE_URL")
	receiver = os.Getenv("RECEIVER_ID")
	login    = guerdon.BasicAuth{UserName: os.Getenv("API_KEY"), Password: os.Getenv("API_SECRET")}
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func assert(condition bool, found any) {
	if !condition {
		log.Fatalf("unexpected: %+v", found)
	}
}

// newHTTPClient returns a client that trusts the certificate of the sandbox.
func newHTTPClient() *http.Client {
	certificate, err := os.ReadFile(os.Getenv("CERTIFICATE"))
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

func recognition(points int64) guerdon.SendRecognitionRequest {
	body := guerdon.NewSendRecognitionRequest(
		os.Getenv("OCCASION_ID"), points, receiver, os.Getenv("USER_ID"), "user",
	)
	body.SetMessage("Well done")
	return *body
}

// findEvent follows the feed to the event of a recognition.
func findEvent(ctx context.Context, client *guerdon.APIClient, id string) *guerdon.RecognitionReceivedEvent {
	request := client.EventsAPI.ListEvents(ctx).Wait(20)
	for {
		page, _, err := request.Execute()
		check(err)
		assert(len(page.Events) > 0, page)
		for _, event := range page.Events {
			received, ok := event.Body.GetActualInstance().(*guerdon.RecognitionReceivedEvent)
			if ok && received.Data.Id == id {
				return received
			}
		}
		request = request.After(page.Next)
	}
}

// requestProblem has a recognition refused, and returns the error in the format of RFC 9457.
func requestProblem(client *http.Client) guerdon.Problem {
	body, err := json.Marshal(recognition(200_000))
	check(err)
	request, err := http.NewRequest("POST", baseURL+"/v1/recognitions", bytes.NewReader(body))
	check(err)
	request.SetBasicAuth(login.UserName, login.Password)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/problem+json")
	response, err := client.Do(request)
	check(err)
	defer response.Body.Close()
	var problem guerdon.Problem
	check(json.NewDecoder(response.Body).Decode(&problem))
	return problem
}

func main() {
	configuration := guerdon.NewConfiguration()
	configuration.Servers = guerdon.ServerConfigurations{{URL: baseURL}}
	configuration.HTTPClient = newHTTPClient()
	client := guerdon.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), guerdon.ContextBasicAuth, login)

	send := client.RecognitionsAPI.SendRecognition(ctx)
	sent, _, err := send.IdempotencyKey("smoke-test-go").SendRecognitionRequest(recognition(10)).Execute()
	check(err)
	assert(sent.Recognitions[0].ReceiverId == receiver && sent.Recognitions[0].Points == 10, sent)

	received := findEvent(ctx, client, sent.Recognitions[0].Id)
	assert(received.Data.ReceiverId == receiver && *received.Data.Message.Get() == "Well done", received)

	_, _, err = send.SendRecognitionRequest(recognition(200_000)).Execute()
	var refused *guerdon.GenericOpenAPIError
	assert(errors.As(err, &refused), err)
	refusal, ok := refused.Model().(guerdon.Error)
	assert(ok && refusal.Error.Message == "Insufficient funds", refused)
	problem := requestProblem(configuration.HTTPClient)
	assert(problem.Code == "insufficient_funds" && len(problem.Errors) == 0, problem)

	balances, _, err := client.UsersAPI.GetUserBalances(ctx, receiver).Execute()
	check(err)
	assert(balances.Wallets[0].Type == "user_wallet", balances)
	users, _, err := client.CompaniesAPI.ListCompanyUsers(ctx, os.Getenv("COMPANY_ID")).PerPage(1).Execute()
	check(err)
	assert(len(users.Results) == 1, users)
	update := guerdon.NewUpdateUserRequest()
	update.SetTitle("Admiral")
	changed, _, err := client.UsersAPI.UpdateUser(ctx, receiver).UpdateUserRequest(*update).Execute()
	check(err)
	assert(*changed.Title.Get() == "Admiral" && changed.DeletedAt.Get() == nil, changed)
	fmt.Println("passed")
}
