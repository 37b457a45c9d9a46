/* Covers: server/analysis/swift_module.c */
#include "server/analysis/swift_module.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(modules_of_linkage_names)
{
    static const struct {
        const char *mangled;
        const char *module; /* NULL: none */
    } CASES[] = {
        {"$s9Alamofire7SessionC7requestyyF", "Alamofire"},
        {"_$s9Alamofire7SessionC7requestyyF", "Alamofire"},
        {"$S7RxSwift10ObservableCfd", "RxSwift"},
        {"$s7RxSwift10ObservableC9subscribeyyFTf4nd_n", "RxSwift"},
        /* extensions lie in the module that wrote them */
        {"$sSo7UIImageC10KingfisherE8decodingyyF", "Kingfisher"},
        {"$sSS4ShopE5trimsyyF", "Shop"},
        {"$sSo7UIImageC5imageyyF", NULL},
        {"$sSayxG4ShopE", NULL},
        {"$s4Shop", "Shop"},
        {"$s5Shop", NULL}, /* shorter than it says */
        {"$s0A4ShopC", NULL},
        {"$s99999999999999999999A", NULL},
        {"$s63ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABC1A",
         "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABC"},
        {"$s64ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCD1A", NULL},
        {"$sSo", NULL},
        {"$sS", NULL},
        {"$s", NULL},
        {"_", NULL},
        {"", NULL},
        {"_TFC4Shop4Feed3runfT_T_", NULL},
        {"-[Feed run]", NULL},
        {"_ZN4shop4Cart4loadEi", NULL},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char module[SWIFT_MODULE_MAX] = "untouched";
        bool found = swift_module_of(CASES[i].mangled, module);
        ck_assert_msg(found == (CASES[i].module != NULL), "%s", CASES[i].mangled);
        ck_assert_str_eq(module, found ? CASES[i].module : "untouched");
    }
    char module[SWIFT_MODULE_MAX];
    ck_assert(!swift_module_of(NULL, module));
}
END_TEST

UNIT_MAIN("swift_module", modules_of_linkage_names)
