#include "server/ingest/format_ips.h"

#include <string.h>

#include "tests/support/unit.h"

static const char HEADER[] = "{\"app_name\":\"Shop\",\"bug_type\":\"309\"}\n";
static const char REPORT[] =
    "{\n \"pid\": 455, \"procName\": \"Shop\\nProcess: no [1]\", \"procPath\": \"/x/Shop\",\n"
    " \"bundleInfo\": {\"CFBundleShortVersionString\": \"7.2\", \"CFBundleVersion\": \"7210\","
    " \"CFBundleIdentifier\": \"com.example.shop\"},\n"
    " \"osVersion\": {\"train\": \"iPhone OS 16.0\", \"build\": \"20A362\"},\n"
    " \"exception\": {\"type\": \"EXC_BREAKPOINT\", \"signal\": \"SIGTRAP\", \"codes\": \"0x1\"},\n"
    " \"termination\": {\"namespace\": \"SIGNAL\", \"code\": 5, \"indicator\": \"Trace\"},\n"
    " \"faultingThread\": 0, \"asi\": {\"libc\": [\"abort() called\"]},\n"
    " \"lastExceptionBacktrace\": [{\"imageOffset\": 16, \"imageIndex\": 0}],\n"
    " \"threads\": [{\"triggered\": true, \"queue\": \"com.apple.main-thread\",\n"
    "  \"threadState\": {\"flavor\": \"ARM_THREAD_STATE64\", \"x\": [{\"value\": 1},"
    " {\"value\": 11961289063992066107}], \"pc\": {\"value\": 4}},\n"
    "  \"frames\": [{\"imageOffset\": 16, \"imageIndex\": 0},\n"
    "   {\"imageOffset\": 32, \"imageIndex\": 0, \"symbol\": \"main\", \"symbolLocation\": 8},\n"
    "   {\"imageOffset\": 32, \"imageIndex\": 0, \"symbol\": \"f\", \"symbolLocation\": 0,"
    " \"sourceFile\": \"a.swift\", \"sourceLine\": 7, \"inline\": true},\n"
    "   {\"imageOffset\": 99, \"imageIndex\": 5}, {}]},\n"
    "  {\"name\": \"worker\", \"frames\": []}],\n"
    " \"usedImages\": [{\"base\": 4330815488, \"size\": 32768, \"arch\": \"arm64\", \"name\":"
    " \"Shop\", \"uuid\": \"82d13d98-219e-3040-b62a-07a297007a7c\", \"path\": \"/x/Shop\"}, {}]}\n";

static const char WANT[] =
    "Process:             Shop Process: no [1] [455]\n"
    "Path:                /x/Shop\n"
    "Identifier:          com.example.shop\n"
    "Version:             7.2 (7210)\n"
    "\n"
    "OS Version:          iPhone OS 16.0 (20A362)\n"
    "Report Version:      104\n"
    "\n"
    "Exception Type:      EXC_BREAKPOINT (SIGTRAP)\n"
    "Exception Codes:     0x1\n"
    "Termination Reason:  SIGNAL 5 Trace\n"
    "\n"
    "Triggered by Thread:  0\n"
    "\n"
    "Application Specific Information:\n"
    "abort() called\n"
    "\n"
    "Last Exception Backtrace:\n"
    "0   Shop                          \t       0x102230010 0x102230000 + 16\n"
    "\n"
    "Thread 0 name:   Dispatch queue: com.apple.main-thread\n"
    "Thread 0 Crashed:\n"
    "0   Shop                          \t       0x102230010 0x102230000 + 16\n"
    "1   Shop                          \t       0x102230020 main + 8\n"
    "2   Shop                          \t       0x102230020 f + 0 (a.swift:7) [inlined]\n"
    "3   ???                           \t              0x63 0x0 + 99\n"
    "4   ???                           \t               0x0 0x0 + 0\n"
    "\n"
    "Thread 0 crashed with ARM_THREAD_STATE64:\n"
    "      x0: 0x0000000000000001     x1: 0xa5ff0907b303003b     pc: 0x0000000000000004\n"
    "\n"
    "Thread 1 name:  worker\n"
    "Thread 1:\n"
    "\n"
    "Binary Images:\n"
    "       0x102230000 -        0x102237fff Shop arm64  <82d13d98-219e-3040-b62a-07a297007a7c> "
    "/x/Shop\n";

static enum err translate(const char *head, const char *body, struct buf *out, struct error *err)
{
    char text[8192];
    buf_init(out, 1 << 20);
    buf_puts(out, "");
    size_t n = (size_t)snprintf(text, sizeof(text), "%s%s", head, body);
    return ips_to_text(text, n, out, err);
}

START_TEST(a_report_becomes_a_text)
{
    struct buf out;
    struct error err = {0};
    ck_assert_msg(translate(HEADER, REPORT, &out, &err) == ERR_OK, "%s", err.text);
    ck_assert_str_eq(out.data, WANT);
    buf_done(&out);
    ck_assert_int_eq(translate("", REPORT, &out, &err), ERR_OK); /* the document alone */
    ck_assert_str_eq(out.data, WANT);
    buf_done(&out);
}
END_TEST

START_TEST(what_is_left_out_is_said)
{
    struct buf in, out;
    struct error err = {0};
    buf_init(&in, 1 << 20);
    buf_init(&out, 1 << 20);
    buf_puts(&in,
             "{\"pid\":1,\"procName\":\"Shop\",\"usedImages\":[],\"threads\":[{\"frames\":[{}");
    for (int i = 1; i < 1000; i++)
        buf_puts(&in, ",{}");
    buf_puts(&in, "]}]}");
    ck_assert_msg(ips_to_text(in.data, in.len, &out, &err) == ERR_OK, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(out.data, "\n511 "));
    ck_assert_ptr_null(strstr(out.data, "\n512 "));
    ck_assert_ptr_nonnull(strstr(out.data, "\n... 488 more frames left out\n"));
    buf_done(&in);
    buf_done(&out);
}
END_TEST

START_TEST(what_is_refused)
{
    struct buf out;
    struct error err;
    ck_assert_int_eq(translate(HEADER, "{\"usedImages\":[]}", &out, &err), ERR_INVALID);
    buf_done(&out);
    ck_assert_int_eq(translate(HEADER, "{\"threads\":{}}", &out, &err), ERR_INVALID);
    buf_done(&out);
    ck_assert_int_eq(translate(HEADER, "{\"threads\":[", &out, &err), ERR_FORMAT);
    buf_done(&out);
    /* Members of the wrong kind are as if they were not there. */
    ck_assert_int_eq(translate(HEADER,
                               "{\"threads\":[7,{\"frames\":7},{\"frames\":[7,{\"imageOffset\":"
                               "\"x\",\"imageIndex\":-1,\"symbol\":7}],\"threadState\":[]}],"
                               "\"usedImages\":{},\"asi\":[],\"exception\":7}",
                               &out, &err),
                     ERR_OK);
    buf_done(&out);
    buf_init(&out, 64);
    ck_assert_int_eq(ips_to_text(REPORT, strlen(REPORT), &out, &err), ERR_LIMIT);
    buf_done(&out);
}
END_TEST

START_TEST(recognised_by_content)
{
    static const struct {
        const char *body;
        bool is;
    } rows[] = {
        {"{\"bug_type\":\"309\"}\n{\n}", true},
        {"\r\n {\"bug_type\":\"309\"} \r\n\r\n  {\"threads\":[]}", true},
        {"{\"threads\":[],\"usedImages\":[]}", true},
        {"{\"threads\":[],\"usedImages\":[]}\n", true},
        {"{\n\"threads\":[],\n\"usedImages\":[]}\n", true},
        {"{\"bug_type\":\"228\"}\nIncident Identifier: D\n", false},
        {"{\"images\":[],\"stacks\":[]}", false},
        {"Process: \"usedImages\"", false},
        {"", false},
        {"{", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(ips_is(rows[i].body, strlen(rows[i].body)) == rows[i].is, "%s", rows[i].body);
}
END_TEST

UNIT_MAIN("format_ips", a_report_becomes_a_text, what_is_left_out_is_said, what_is_refused,
          recognised_by_content)
